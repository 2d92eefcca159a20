#!/bin/sh
# Make a virtual environment with the first Python that is new enough and can make one.
# Usage: make_venv.sh DIRECTORY [PYTHON]
set -eu
venv=$1
shift

is_usable() { "$1" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

for python in "$@" python3.11 python3.12 python3.13 python3 python3.14 python; do
    if is_usable "$python"; then
        echo "Making $venv with $("$python" --version) …"
        exec "$python" -m venv "$venv"
    fi
done

echo "geomi needs Python 3.11 or newer, with its venv module; none was found." >&2
echo "Hint: on Debian or Ubuntu, install python3 and python3-venv; or name one: make PYTHON=/path/to/python3" >&2
exit 1
