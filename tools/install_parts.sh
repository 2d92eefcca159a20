#!/bin/sh
# Install Debian packages that some tests or measurements need. Without apt or without the right to
# use it nothing happens: the tests that miss a part say so themselves.
set -u
command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || exit 0

missing=""
for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] && [ "$(id -u)" = 0 ] || exit 0

echo "Installing$missing …"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # a list of names
install() { apt-get install -y -qq --no-install-recommends $missing >/dev/null 2>&1; }
install || { apt-get update -qq >/dev/null 2>&1 && install; } || echo "Could not install$missing; tests that need it will say so." >&2
