"""The ledger: a folder with the sums of the finished units of a run.

`run.json` says which run it is, `command.json` by which command it can be continued.
`search-<k>.npz` holds the sums over the first finished units of the k-th search of the run, and
`search-<k>-unit-<u>.npz` the results of a later unit that was finished before its turn. Every file
is complete when it gets its name, and has checksums (_records.py).
"""

from __future__ import annotations

import errno
import json
import os
import time
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

import torch
from torch import Tensor

from torchcent.check._values import shortened
from torchcent.distribute import _records
from torchcent.distribute._digest import Key, difference, plain
from torchcent.distribute._records import COMMAND, HEADER, About, Damage
from torchcent.distribute._units import Result, Search
from torchcent.runtime._replacing import replacing

_FORMAT = 1
_PATIENCE = 0.5  # seconds within which another process may only have been looking
_command: ContextVar[dict[str, object] | None] = ContextVar("_command", default=None)


@contextmanager
def recording(command: dict[str, object] | None) -> Iterator[None]:
    """Lets ledgers that are opened in this block record a command, by which the run continues."""
    token = _command.set(command)
    try:
        yield
    finally:
        _command.reset(token)


@contextmanager
def parts(folder: str | None, names: Sequence[str], leads: bool) -> Iterator[dict[str, str | None]]:
    """Lets a command that makes several calls keep a ledger of each, within one folder.

    The folder holds the command; the ledgers within it record none. Only the process that leads
    writes.
    """
    if folder is None:
        yield dict.fromkeys(names)
        return
    if leads:
        path = _folder(folder)
        others = {each.name for each in path.iterdir()} - {COMMAND, *names}
        others -= {each.name for each in _records.temporaries(path)}
        if others:
            raise ValueError(
                f"checkpoint={folder!r} is not of this command: it holds {min(others)!r}; "
                "accepted: a new or empty folder, or that of the same command"
            )
        if (command := _command.get()) is not None:
            with replacing(str(path / COMMAND), durable=True) as (file, _):
                _records.write_record(file, command)
    with recording(None):
        yield {name: os.path.join(folder, name) for name in names}


def _folder(folder: str) -> Path:
    """Makes the folder if there is none."""
    try:
        path = Path(os.path.realpath(folder))
        if path.exists() and not path.is_dir():
            raise ValueError(
                f"checkpoint={str(folder)!r} is a file; accepted: a new or empty folder, or the "
                "ledger of the same run"
            )
        path.mkdir(parents=True, exist_ok=True)
        return path
    except UnicodeError as error:
        raise ValueError(f"checkpoint={shortened(folder)} is no path: {error}") from None
    except OSError as error:
        raise OSError(
            error.errno,
            f"checkpoint={shortened(folder)}: the folder cannot be made ({error.strerror})",
        ) from None


class Ledger:
    """The folder of a run; ValueError if it holds the ledger of another run, or other files."""

    def __init__(self, folder: str, key: Key) -> None:
        self.folder = _folder(folder)
        own, header = plain({"format": _FORMAT, **key}), None
        try:
            header = _records.header(self.folder)
        except Damage as damage:
            _warn(self.folder / HEADER, damage)
        except ValueError as error:
            raise ValueError(
                f"checkpoint={str(folder)!r} is no ledger: {error}; accepted: a new or empty "
                "folder, or the ledger of the same run"
            ) from None
        if header is not None and (differs := difference(header, own)):
            raise ValueError(
                f"checkpoint={str(folder)!r} holds another run: {differs}; pass another folder, or "
                "delete this one"
            )
        #: identifies the run in every file
        self.run = f"{zlib.crc32(json.dumps(own, sort_keys=True).encode()):08x}"
        if (command := _command.get()) is not None:
            self._write(COMMAND, lambda file: _records.write_record(file, command))
        if header is None:
            self._write(HEADER, lambda file: _records.write_record(file, own))

    def restore(self, number: int, search: Search) -> About | None:
        """Reads the sums of the first units of a search into its totals; None if there are none."""
        contents = self._read(_records.results_name(number), search)
        if contents is None:
            return None
        about, arrays = contents
        for part, array in zip(_first(search, about.done), arrays, strict=True):
            part.copy_(array)
        return about

    def keep(self, number: int, search: Search, about: About) -> None:
        """Writes the sums of the first units of a search."""
        self._save(_records.results_name(number), about, _first(search, about.done))

    def keep_unit(self, number: int, about: About, parts: tuple[Tensor, ...]) -> None:
        """Writes the results of a unit that is finished before its turn."""
        self._save(_records.results_name(number, about.units), about, parts)

    def unit(self, number: int, unit: int, search: Search) -> Result | None:
        """Reads what :meth:`keep_unit` wrote; None if it did not."""
        contents = self._read(_records.results_name(number, unit), search)
        if contents is None:
            return None
        about, arrays = contents
        return Result(unit, tuple(arrays), about.rung, about.seconds)

    def drop_unit(self, number: int, unit: int) -> None:
        (self.folder / _records.results_name(number, unit)).unlink(missing_ok=True)

    def units(self, number: int) -> list[int]:
        """The units that :meth:`keep_unit` wrote."""
        files = _records.results(self.folder)
        return [unit for of, unit, _ in files if of == number and unit is not None]

    def decision(self, name: str, value: Any) -> Any:
        """The value that an earlier run recorded under this name, or this one."""
        path = self.folder / f"decision-{name}.json"
        try:
            return _records.read_record(path)
        except FileNotFoundError:
            pass
        except Damage as damage:
            _warn(path, damage)
        self._write(path.name, lambda file: _records.write_record(file, value))
        return value

    def _save(self, name: str, about: About, tensors: tuple[Tensor, ...]) -> None:
        arrays = [tensor.cpu().numpy() for tensor in tensors]
        self._write(name, lambda file: _records.write_results(file, about, arrays))

    def _write(self, name: str, write: Callable[[IO[bytes]], None]) -> None:
        try:
            with replacing(str(self.folder / name), durable=True) as (file, _):
                write(file)
        except Exception as error:
            cause = _os_error(error)
            if cause is None:
                raise
            raise OSError(
                cause.errno,
                f"checkpoint={str(self.folder)!r}: {name} could not be written "
                f"({cause.strerror or cause}); all that was recorded before is intact, and a run "
                "with the same arguments continues from there",
            ) from error

    def _read(self, name: str, search: Search) -> tuple[About, list[Tensor]] | None:
        """The contents of a file; None if there is none, or, with a warning, if it is damaged."""
        path = self.folder / name
        try:
            about, arrays = _records.read_results(path)
        except FileNotFoundError:
            return None
        except Damage as damage:
            _warn(path, damage)
            return None
        there = {**about.search, "units": about.of}
        differs = difference(there, {**search.key, "units": len(search.sizes)})
        if about.run != self.run or differs:
            reason = differs or "its run has another graph, request or version"
            if about.search.get("lanes") != search.key.get("lanes"):
                reason += " (as many as there fit into memory=BYTES)"
            raise ValueError(
                f"checkpoint={str(self.folder)!r}: {name} is of another run: {reason}; pass "
                "another folder, or delete this one"
            )
        return about, [torch.from_numpy(array) for array in arrays]


def _first(search: Search, done: int) -> tuple[Tensor, ...]:
    """The totals, of rows those of the first sources."""
    return tuple(
        total[:done] if kind == "rows" else total
        for total, kind in zip(search.totals, search.kinds, strict=True)
    )


@contextmanager
def locked(ledger: Ledger | None) -> Iterator[None]:
    """Keeps other processes from writing to the ledger, and removes what killed ones left."""
    if ledger is None:
        yield
        return
    folder = _opened(ledger.folder)
    try:
        until = time.monotonic() + _PATIENCE
        while not lock(folder, "LOCK_EX"):
            if time.monotonic() > until:
                raise BlockingIOError(
                    errno.EAGAIN,
                    f"checkpoint={str(ledger.folder)!r}: another process is at work on it; wait "
                    "for its end, or pass another folder",
                )
            time.sleep(_PATIENCE / 10)
        for left in _records.temporaries(ledger.folder):
            left.unlink(missing_ok=True)
        yield
    finally:
        if folder is not None:
            os.close(folder)


def in_use(folder: Path) -> bool:
    """Whether a process is at work on a ledger."""
    file = _opened(folder)
    try:
        return not lock(file, "LOCK_SH")
    finally:
        if file is not None:
            os.close(file)


def _opened(folder: Path) -> int | None:
    """The folder for locks; None where the system has none for folders, such as Windows."""
    if not hasattr(os, "O_DIRECTORY"):
        return None
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY)


def lock(file: int | None, kind: str) -> bool:
    """Locks a file or folder until it is closed; False if another process has locked it."""
    try:
        import fcntl
    except ImportError:
        return True
    if file is None:
        return True
    try:
        fcntl.flock(file, getattr(fcntl, kind) | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EAGAIN, errno.EACCES)  # others: no locks here
    return True


def _os_error(error: BaseException | None) -> OSError | None:
    """An error of the system that led to this one: a ZipFile raises another when it is closed."""
    while error is not None and not isinstance(error, OSError):
        error = error.__context__
    return error


def _warn(path: Path, damage: Damage) -> None:
    warnings.warn(
        f"{path} is damaged and is not used ({damage}); what it held is computed again",
        RuntimeWarning,
        stacklevel=2,
    )
