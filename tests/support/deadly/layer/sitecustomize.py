"""Let readers die of marked bodies, in every process that has this folder on its path.

Python imports this module when it starts. It waits for the modules with the readers, and puts a
reader in place of each that dies in the way that a body asks for, as broken native code would.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import re
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

# Of a machine that has this much for one process: then the kernel ends it.
MACHINE_BYTES = 2 * 1024**3
PIECE_BYTES = 64 * 1024**2
_ASKED = re.compile(r"deadly (\w+) (\w+)")


def _die_if_asked(reader: str, body: Any) -> None:
    """Die as a body asks for, if it is meant for this reader."""
    text = bytes(body).decode("latin-1") if isinstance(body, bytes | bytearray) else str(body)
    for wanted, how in _ASKED.findall(text):
        if wanted == reader:
            _WAYS[how]()


def _abort() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.abort()


def _exhaust() -> None:
    """Take memory until there is none: a limit raises, and the kernel kills."""
    taken: list[bytearray] = []
    while len(taken) * PIECE_BYTES < MACHINE_BYTES:
        taken.append(bytearray(PIECE_BYTES))
    os.kill(os.getpid(), signal.SIGKILL)


def _spin() -> None:
    """Never come back; say who it is, so that somebody can end it."""
    told = Path(os.environ["DEADLY_TOLD"])
    (told / f"{os.getpid()}.spins").touch()
    while True:
        pass


class _PanicError(BaseException):
    """What a binding of native code raises where that panics: no `Exception`."""


def _panic() -> None:
    raise _PanicError("the parser panicked")


_WAYS: dict[str, Callable[[], None]] = {
    "abort": _abort,
    "exit": lambda: os._exit(3),
    "memory": _exhaust,
    "spin": _spin,
    "panic": _panic,
}


def _first_argument(reader: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def read(body: Any, *arguments: Any, **options: Any) -> Any:
        _die_if_asked(reader, body)
        return real(body, *arguments, **options)

    return read


def _page(module: Any) -> None:
    module.parse = _first_argument("page", module.parse)


def _robots(module: Any) -> None:
    module.parse = _first_argument("robots", module.parse)


def _document(module: Any) -> None:
    real = module.analyse

    def analyse(subject: Any, *arguments: Any) -> Any:
        _die_if_asked("document", subject.article.markdown)
        return real(subject, *arguments)

    module.analyse = analyse


def _sitemap(module: Any) -> None:
    real = module.SitemapReader.feed

    def feed(reader: Any, piece: bytes) -> None:
        _die_if_asked("sitemap", piece)
        real(reader, piece)

    module.SitemapReader.feed = feed


_READERS = {
    "turbohtml": _page,
    "geomi.robots.parse": _robots,
    "geomi.seed.sitemap": _sitemap,
    "geomi.analyse.page": _document,
}


class _Laying(importlib.abc.MetaPathFinder):
    """Finds the modules with the readers, and lays the fault when one is loaded."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find one of them as it would be found without us."""
        if fullname not in _READERS:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        assert spec is not None and spec.loader is not None
        loader: Any = spec.loader
        load = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            _READERS[fullname](module)

        loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, _Laying())
