"""The ledger: a folder with the sums of the finished units of a run.

`run.json` says which run it is. `search-<k>.npz` holds the sums over the first finished units of
the k-th search of the run, and `search-<k>-unit-<u>.npz` the results of a later unit that was
finished before its turn. Every file is complete when it gets its name, and its members have
checksums (CRC-32, those of zip files).
"""

from __future__ import annotations

import json
import os
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from torchcent.runtime._replacing import TEMPORARY, replacing
from torchcent.scale._digest import Key, difference, plain
from torchcent.scale._units import Search

_FORMAT = 1
_HEADER, COMMAND = "run.json", "command.json"
_DECISION = "decision-"
_ABOUT = "about"  # the member that describes the others
_DAMAGE = (zipfile.BadZipFile, zlib.error, ValueError, KeyError, EOFError, TypeError)


class About(NamedTuple):
    """What a file of results says about itself.

    Attributes:
        run: see :attr:`Ledger.run`.
        search: the key of the search.
        units: finished units, or the number of the only one.
        of: units of the search.
        done: sources of the finished units.
        total: sources of the search.
        rung: that of all units but the first.
        seconds: that the finished units took, one after the other.
    """

    run: str
    search: dict[str, object]
    units: int
    of: int
    done: int
    total: int
    rung: int
    seconds: float


class Ledger:
    """The folder of a run; a new one is made.

    Raises:
        ValueError: the folder holds the ledger of another run, or other files.
        OSError: the folder cannot be written to.
    """

    def __init__(self, folder: str, key: Key) -> None:
        self.folder = Path(os.path.realpath(folder))
        self.folder.mkdir(parents=True, exist_ok=True)
        own = plain({"format": _FORMAT, **key})
        found = header(self.folder)
        if found is None:
            self._write_header(own)
        elif differs := difference(found, own):
            raise ValueError(
                f"checkpoint={str(folder)!r} holds another run: {differs}; pass another folder, or "
                "delete this one"
            )
        #: identifies the run in every file
        self.run = f"{zlib.crc32(json.dumps(own, sort_keys=True).encode()):08x}"
        for left in self.folder.glob(TEMPORARY):
            left.unlink(missing_ok=True)

    def _write_header(self, key: Key) -> None:
        self._write(self.folder / _HEADER, _sealed(key))

    def restore(self, number: int, search: Search) -> About | None:
        """Reads the sums of the first units of a search into its totals; None if there are none."""
        path = self._path(number)
        found = self._read(path, search)
        if found is None:
            return None
        about, arrays = found
        for total, kind, array in zip(search.totals, search.kinds, arrays, strict=True):
            place = total[: about.done] if kind == "rows" else total
            place.copy_(torch.from_numpy(array))
        return about

    def keep(self, number: int, search: Search, about: About) -> None:
        """Writes the sums of the first units of a search."""
        arrays = [
            total[: about.done] if kind == "rows" else total
            for total, kind in zip(search.totals, search.kinds, strict=True)
        ]
        self._save(self._path(number), about, arrays)

    def keep_unit(self, number: int, about: About, results: tuple[Tensor, ...]) -> None:
        """Writes the results of a unit that is finished before its turn."""
        self._save(self._path(number, about.units), about, list(results))

    def unit(self, number: int, unit: int, search: Search) -> tuple[About, list[Tensor]] | None:
        """Reads what :meth:`keep_unit` wrote; None if it did not."""
        found = self._read(self._path(number, unit), search)
        return None if found is None else (found[0], [torch.from_numpy(x) for x in found[1]])

    def drop_unit(self, number: int, unit: int) -> None:
        self._path(number, unit).unlink(missing_ok=True)

    def units(self, number: int) -> list[int]:
        """The units that :meth:`keep_unit` wrote."""
        names = self.folder.glob(f"{self._path(number).stem}-unit-*.npz")
        return sorted(int(name.stem.rpartition("-")[2]) for name in names)

    def decided(self, name: str, value: Any) -> Any:
        """The value that an earlier run recorded under this name, or the given one."""
        path = self.folder / f"{_DECISION}{name}.json"
        try:
            return _unsealed(path.read_bytes())
        except FileNotFoundError:
            pass
        except _DAMAGE:
            _warn(path, "it is truncated or changed")
        self._write(path, _sealed(value))
        return value

    def _path(self, number: int, unit: int | None = None) -> Path:
        name = f"search-{number:03}" + ("" if unit is None else f"-unit-{unit:05}")
        return self.folder / f"{name}.npz"

    def _save(self, path: Path, about: About, tensors: list[Tensor]) -> None:
        text = np.frombuffer(json.dumps(about._asdict()).encode(), np.uint8)
        arrays = {f"total_{at}": tensor.cpu().numpy() for at, tensor in enumerate(tensors)}
        try:
            with replacing(str(path), durable=True) as (file, _):
                np.savez(file, **{_ABOUT: text}, **arrays)  # type: ignore[arg-type]
        except OSError as error:
            raise self._unwritten(path, error) from error

    def _write(self, path: Path, content: bytes) -> None:
        try:
            with replacing(str(path), durable=True) as (file, _):
                file.write(content)
        except OSError as error:
            raise self._unwritten(path, error) from error

    def _unwritten(self, path: Path, error: OSError) -> OSError:
        return OSError(
            error.errno,
            f"checkpoint={str(self.folder)!r}: {path.name} could not be written "
            f"({error.strerror or error}); all that was recorded before is intact, and a run with "
            "the same arguments continues from there",
        )

    def _read(self, path: Path, search: Search) -> tuple[About, list[Any]] | None:
        """The contents of a file; None if there is none, or, with a warning, if it is damaged."""
        loaded = load(path)
        if loaded is None:
            return None
        about, arrays = loaded
        differs = difference(about.search, search.key)
        if about.run != self.run or differs:
            reason = differs or "its run has another graph, request or version"
            raise ValueError(
                f"checkpoint={str(self.folder)!r}: {path.name} is of another run: {reason}; pass "
                "another folder, or delete this one"
            )
        shapes = [
            (about.done, *total.shape[1:]) if kind == "rows" else tuple(total.shape)
            for total, kind in zip(search.totals, search.kinds, strict=True)
        ]
        if "unit" not in path.stem and [x.shape for x in arrays] != shapes:
            _warn(path, "its arrays have other shapes")
            return None
        return about, arrays


def header(folder: Path) -> dict[str, object] | None:
    """What `run.json` says; None if there is none, or, with a warning, if it is damaged.

    Raises:
        ValueError: the folder holds something else.
    """
    path = folder / _HEADER
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        names = [x.name for x in folder.iterdir()]
        own = "search-", _DECISION, "."
        others = [x for x in names if x != COMMAND and not x.startswith(own)]
        if others:
            raise ValueError(
                f"checkpoint={str(folder)!r} is no ledger: it holds {others[0]!r}; accepted: a new "
                "or empty folder, or the ledger of the same run"
            ) from None
        return None
    try:
        key: dict[str, object] = _unsealed(text)
        return key
    except _DAMAGE:
        _warn(path, "it is truncated or changed")
    return None


def _sealed(value: object) -> bytes:
    """JSON with a checksum."""
    text = json.dumps(value, indent=1)
    return json.dumps({"value": value, "checksum": zlib.crc32(text.encode())}, indent=1).encode()


def _unsealed(content: bytes) -> Any:
    found = json.loads(content)
    if zlib.crc32(json.dumps(found["value"], indent=1).encode()) != found["checksum"]:
        raise ValueError("the checksum differs")
    return found["value"]


def load(path: Path) -> tuple[About, list[Any]] | None:
    """The contents of a file of results; None if there is none, or if it is damaged."""
    try:
        with np.load(path, allow_pickle=False) as file:
            about = About(**json.loads(bytes(file[_ABOUT])))
            return about, [file[f"total_{at}"] for at in range(len(file.files) - 1)]
    except FileNotFoundError:
        return None
    except _DAMAGE as error:
        _warn(path, str(error) or type(error).__name__)
        return None


def _warn(path: Path, reason: str) -> None:
    warnings.warn(
        f"{path} is damaged and is not used ({reason}); its units are computed again",
        RuntimeWarning,
        stacklevel=2,
    )
