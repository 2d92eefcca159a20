"""A file system under SQLite that tells of every write, and may refuse, tear or delay it.

SQLite reaches files through a table of functions (`sqlite3_vfs`, and `sqlite3_io_methods` of each
open file). Copies of both tables with four functions of ours are registered as the default; all
else is what it was. The module `sqlite3` has no word for this, therefore ctypes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p
from typing import Any, Protocol

WAL = "-wal"
WAL_FRAME_HEAD_BYTES = 24  # of which bytes 4 to 8 are not zero where a transaction ends
IOERR_WRITE, IOERR_SYNC, FULL, OK = 778, 1034, 13, 0

_Open = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p)
_Delete = CFUNCTYPE(c_int, c_void_p, c_char_p, c_int)
_Write = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
_Truncate = CFUNCTYPE(c_int, c_void_p, c_int64)
_Sync = CFUNCTYPE(c_int, c_void_p, c_int)


class Fault(Protocol):
    """What stands between SQLite and its files; see `layer.Layer`."""

    def file(self, kind: str, whole: Callable[[], int], half: Callable[[], int] | None) -> int:
        """Do an operation, or what becomes of it; return a code of SQLite."""
        ...


class _Vfs(Structure):
    _fields_ = [
        ("version", c_int), ("file_bytes", c_int), ("most_path", c_int), ("next", c_void_p),
        ("name", c_char_p), ("data", c_void_p), ("open", c_void_p), ("delete", c_void_p),
        *((f"other{number}", c_void_p) for number in range(14)),
    ]  # fmt: skip


class _Methods(Structure):
    _fields_ = [
        ("version", c_int), ("close", c_void_p), ("read", c_void_p), ("write", c_void_p),
        ("truncate", c_void_p), ("sync", c_void_p),
        *((f"other{number}", c_void_p) for number in range(13)),
    ]  # fmt: skip


class _File(Structure):
    _fields_ = [("methods", POINTER(_Methods))]


class Shim:
    """The tables, and what they call; it has to live as long as the process."""

    def __init__(self, fault: Fault) -> None:
        import _sqlite3  # whose library it is: another copy of SQLite would not do

        library = ctypes.CDLL(_sqlite3.__file__)
        library.sqlite3_vfs_find.restype = POINTER(_Vfs)
        self._fault = fault
        self._real = library.sqlite3_vfs_find(None).contents
        self._names: dict[int, str] = {}
        self._ends: set[int] = set()  # files whose last write was the head of a last frame
        self._methods: dict[int, _Methods] = {}
        self._kept: list[Any] = []
        self._vfs = _Vfs.from_buffer_copy(self._real)
        self._vfs.next, self._vfs.name = None, b"chaos"
        self._vfs.open = self._pointer(_Open(self._open))
        self._vfs.delete = self._pointer(_Delete(self._delete))
        library.sqlite3_vfs_register(ctypes.byref(self._vfs), 1)

    def _pointer(self, function: Any) -> int:
        self._kept.append(function)
        address = ctypes.cast(function, c_void_p).value
        assert address is not None
        return address

    def _open(self, vfs: int, name: int | None, file: int, flags: int, out: int | None) -> int:
        code = _Open(self._real.open)(vfs, name, file, flags, out)
        handle = _File.from_address(file)
        if code == OK and name and handle.methods:
            self._names[file] = ctypes.string_at(name).decode()
            handle.methods = ctypes.pointer(self._wrapped(handle.methods))
        return int(code)

    def _wrapped(self, real: Any) -> _Methods:
        """Return the methods of a kind of file with ours among them."""
        address = ctypes.addressof(real.contents)
        if address not in self._methods:
            methods = _Methods.from_buffer_copy(real.contents)
            write, truncate, sync = (
                _Write(methods.write), _Truncate(methods.truncate), _Sync(methods.sync)
            )  # fmt: skip
            methods.write = self._pointer(
                _Write(lambda file, data, many, at: self._write(write, file, data, many, at))
            )
            methods.truncate = self._pointer(
                _Truncate(
                    lambda file, size: self._fault.file(
                        "db truncate", lambda: truncate(file, size), None
                    )
                )
            )
            methods.sync = self._pointer(
                _Sync(
                    lambda file, flags: self._fault.file(
                        "db fsync", lambda: sync(file, flags), None
                    )
                )
            )
            self._methods[address] = methods
        return self._methods[address]

    def _write(self, real: Any, file: int, data: int, many: int, at: int) -> int:
        """Tell of a write; of a transaction in the log only the frame that ends it.

        Frames before that one count for nobody until it is whole, so that a death at any of them is
        a death before the transaction.
        """
        kind = "db page"
        if self._names.get(file, "").endswith(WAL):
            if many == WAL_FRAME_HEAD_BYTES:
                is_last = any(ctypes.string_at(data + 4, 4))
                (self._ends.add if is_last else self._ends.discard)(file)
                return int(real(file, data, many, at))
            if file not in self._ends:
                return int(real(file, data, many, at))
            self._ends.discard(file)
            kind = "commit"
        return self._fault.file(
            kind, lambda: real(file, data, many, at), lambda: real(file, data, many // 2, at)
        )

    def _delete(self, vfs: int, name: bytes, flags: int) -> int:
        return self._fault.file(
            "db unlink", lambda: _Delete(self._real.delete)(vfs, name, flags), None
        )
