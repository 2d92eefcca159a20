"""The command line: flags in, exit codes out; one file a command.

Commands translate and nothing else: they read flags, call a use case of the engine and print what
it returned. Data goes to stdout, talk to stderr, and no command decides anything that another
surface would have to decide again.
"""

from __future__ import annotations

from geomi.cli.program import main

__all__ = ["main"]
