"""The files of a ledger: their names, what they say, and whether they are whole.

A record is JSON with a checksum. Results are .npz files, whose members have checksums (CRC-32,
those of zip files).
"""

from __future__ import annotations

import errno
import json
import re
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

HEADER, COMMAND = "run.json", "command.json"
_NAMES = r"(?:run|command|decision-\w+)\.json|search-(\d{3,})(?:-unit-(\d{5,}))?\.npz"
_OWN = re.compile(_NAMES)
_TEMPORARY = re.compile(rf"\.(?:{_NAMES})\.[0-9a-f]{{8}}\.tmp")  # those of `replacing`
_ABOUT = "about"  # the member that describes the others
# What readers raise when bytes have changed; KeyError and TypeError for names of members, also
# RuntimeError for flags of zip files that are not supported here.
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, ValueError, KeyError, EOFError, TypeError, RuntimeError,
)  # fmt: skip


class Damage(Exception):
    """A file is truncated or changed."""


class About(NamedTuple):
    """What a file of results says about itself."""

    run: str  # see Ledger.run
    search: dict[str, object]  # its key
    units: int  # finished ones, or the number of the only one
    of: int  # units of the search
    done: int  # sources of the finished units
    total: int  # sources of the search
    rung: int  # that of all units but the first
    seconds: float  # that the finished units took, one after the other


def results_name(number: int, unit: int | None = None) -> str:
    """The name of the sums of a search, or of the results of a unit before its turn."""
    return f"search-{number:03}" + ("" if unit is None else f"-unit-{unit:05}") + ".npz"


def results(folder: Path) -> list[tuple[int, int | None, Path]]:
    """The files of results: number of the search, unit or None for the sums, path."""
    names = ((_OWN.fullmatch(path.name), path) for path in sorted(folder.iterdir()))
    return [
        (int(name[1]), None if name[2] is None else int(name[2]), path)
        for name, path in names
        if name is not None and name[1] is not None
    ]


def temporaries(folder: Path) -> list[Path]:
    """What killed runs were writing."""
    return [path for path in folder.iterdir() if _TEMPORARY.fullmatch(path.name)]


def header(folder: Path) -> dict[str, object] | None:
    """What `run.json` says; None if there is none, or if the ledger has lost it.

    Raises:
        ValueError: the folder holds something else.
        Damage: it is a ledger, but `run.json` is damaged.
    """
    patterns = _OWN, _TEMPORARY
    others = [
        x.name for x in folder.iterdir() if not any(each.fullmatch(x.name) for each in patterns)
    ]
    try:
        key: dict[str, object] = read_record(folder / HEADER)
        return key
    except FileNotFoundError:
        pass
    except Damage:
        # It may be another program's file of this name.
        if results(folder) and not others:
            raise
        others.insert(0, HEADER)
    if others:
        raise ValueError(f"it holds {others[0]!r}, which is not of a ledger")
    return None


def write_record(file: IO[bytes], value: object) -> None:
    """Writes JSON with a checksum."""
    text = json.dumps(value, indent=1)
    content = {"value": value, "checksum": zlib.crc32(text.encode())}
    file.write(json.dumps(content, indent=1).encode())


def read_record(path: Path) -> Any:
    """The value that :func:`write_record` wrote; Damage if it is truncated or changed."""
    try:
        content = json.loads(path.read_bytes())
        if zlib.crc32(json.dumps(content["value"], indent=1).encode()) == content["checksum"]:
            return content["value"]
    except _DAMAGE:
        pass
    raise Damage("truncated or changed")


def write_results(file: IO[bytes], about: About, arrays: list[np.ndarray]) -> None:
    text = json.dumps({"about": about._asdict(), "arrays": len(arrays)})
    members = {f"total_{at}": array for at, array in enumerate(arrays)}
    np.savez(file, **{_ABOUT: np.frombuffer(text.encode(), np.uint8)}, **members)  # type: ignore


def read_results(path: Path, *, arrays: bool = True) -> tuple[About, list[Any]]:
    """What :func:`write_results` wrote; without `arrays` these are checked only."""
    try:
        # NumPy would leave a file of its own open if it is no .npz.
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            wrong = file.zip.testzip()  # the whole of all members, whatever their headers say
            if wrong is not None:
                raise Damage(f"the checksum of {wrong} differs")
            content = json.loads(bytes(file[_ABOUT]))
            # A changed table of contents may hide members.
            members = [f"total_{at}" for at in range(content["arrays"])]
            if sorted(file.files) != sorted([_ABOUT, *members]):
                raise Damage("members are missing")
            about = About(**content["about"])
            return about, [file[name] for name in members] if arrays else []
    except _DAMAGE as error:
        raise Damage(str(error) or type(error).__name__) from None
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EIO):  # beyond the end; bytes are lost
            raise
        raise Damage(str(error)) from None
