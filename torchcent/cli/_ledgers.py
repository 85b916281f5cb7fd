"""Runs that can be continued: what a ledger holds, and the command that made it."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

from torchcent.cli._report import aligned_rows
from torchcent.distribute import _look, _records
from torchcent.distribute._look import Look, Progress, is_ledger
from torchcent.runtime._memory import readable

__all__ = ["Command", "describe", "is_ledger", "recorded", "summary"]

#: entries of a run's key that have lines of their own
_ELSEWHERE = ("format", "torchcent", "torch", "kernels", "graph", "measure")


class Command(NamedTuple):
    """A command that was recorded: its arguments, and the folder in which it ran."""

    arguments: list[str]
    folder: str

    def __str__(self) -> str:
        return f"{shlex.join(['torchcent', *self.arguments])} (in {self.folder})"


def recorded(path: str) -> Command:
    """The command of a ledger.

    Raises:
        ValueError: the folder is no ledger, or none was recorded.
        OSError: there is no such folder, or the one in which the command ran is gone.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise FileNotFoundError(f"{path}: no such folder")
    if not is_ledger(folder):
        raise ValueError(f"{path} is no ledger, the folder of --checkpoint or Run(checkpoint=...)")
    try:
        command = Command(**_records.read_record(folder / _records.COMMAND))
    except FileNotFoundError:
        raise ValueError(
            f"{path} has no recorded command; it is of a call in Python, which continues when it "
            "is made again with the same Run(checkpoint=...)"
        ) from None
    except _records.Damage as damage:
        raise ValueError(
            f"{path}: {_records.COMMAND} is damaged ({damage}); the same command with --checkpoint "
            "continues"
        ) from None
    if not os.path.isdir(command.folder):
        raise FileNotFoundError(f"{path}: the command ran in {command.folder}, which is gone")
    return command


def summary(path: str) -> dict[str, Any]:
    """What ``torchcent info --json`` says about a ledger."""
    if inner := _inner(path):
        return _summary_of_parts(path, inner)
    ledger = _looked_at(path)
    return {
        "ledger": path,
        "arguments": ledger.command and ledger.command["arguments"],
        "folder": ledger.command and ledger.command["folder"],
        "run": ledger.key,
        "searches": [
            search._asdict() | {"remaining": search.remaining} for search in ledger.searches
        ],
        "finished": bool(ledger.searches) and all(x.done == x.total for x in ledger.searches),
        "in_use": ledger.in_use,
        "files": ledger.files,
        "bytes": ledger.nbytes,
        "damaged": ledger.damaged,
    }


def _summary_of_parts(path: str, inner: list[Path]) -> dict[str, Any]:
    each = [summary(str(folder)) for folder in inner]
    command = recorded(path)
    together = {
        name: [entry for one in each for entry in one[name]] for name in ("searches", "damaged")
    }
    return {
        "ledger": path,
        "arguments": command.arguments,
        "folder": command.folder,
        "run": each[0]["run"],
        **together,
        "finished": all(one["finished"] for one in each),
        "in_use": any(one["in_use"] for one in each),
        "files": sum(one["files"] for one in each),
        "bytes": sum(one["bytes"] for one in each),
    }


def _inner(path: str) -> list[Path]:
    """The ledgers within the folder of a command that has several."""
    return [each for each in sorted(Path(path).iterdir()) if each.is_dir()]


def describe(path: str) -> str:
    """The output of ``torchcent info`` for a ledger."""
    if inner := _inner(path):
        return _describe_parts(path, inner)
    ledger = _looked_at(path)
    rows = {"ledger": path} | _identity(ledger)
    for number, search in enumerate(ledger.searches, 1):
        rows[f"search {number}"] = _progress(search)
    rows["state"] = _state([ledger], ledger.command, path)
    rows["on disk"] = f"{readable(ledger.nbytes)} in {ledger.files} files"
    return "\n".join([aligned_rows(rows), *_damaged(ledger)])


def _describe_parts(path: str, inner: list[Path]) -> str:
    """That of a command with several ledgers."""
    each = [_looked_at(str(folder)) for folder in inner]
    command = recorded(path)
    rows = {"ledger": path} | _identity(each[0]) | {"command": str(command)}
    rows["run"] = command.arguments[0]
    for folder, ledger in zip(inner, each, strict=True):
        for number, search in enumerate(ledger.searches, 1):
            rows[f"{folder.name} {number}"] = _progress(search)
    rows["state"] = _state(each, command._asdict(), path)
    nbytes, files = sum(ledger.nbytes for ledger in each), sum(ledger.files for ledger in each)
    rows["on disk"] = f"{readable(nbytes)} in {files} files"
    return "\n".join([aligned_rows(rows), *(line for ledger in each for line in _damaged(ledger))])


def _looked_at(path: str) -> Look:
    try:
        return _look.look(Path(path))
    except ValueError as error:
        raise ValueError(f"{path} is no ledger: {error}") from None


def _identity(ledger: Look) -> dict[str, str]:
    """The rows that say which run it is."""
    rows = {}
    if ledger.command is not None:
        rows["command"] = str(Command(**ledger.command))
    if ledger.key is not None:
        key = ledger.key
        set_ = {name: value for name, value in key.items() if name not in _ELSEWHERE}
        options = [f"{name}={value}" for name, value in set_.items() if value not in _USUAL]
        rows["run"] = ", ".join([str(key["measure"]), *options])
        *sizes, digest = str(key["graph"]).split(", ")
        sizes = [re.sub(r"\d+", lambda found: f"{int(found[0]):,}", size) for size in sizes]
        rows["graph"] = ", ".join([*sizes, digest])
        rows["made by"] = f"torchcent {key['torchcent']}, PyTorch {key['torch']}, {key['kernels']}"
    return rows


def _damaged(ledger: Look) -> list[str]:
    return [f"{'damaged':<12} {each}; it is not used" for each in ledger.damaged]


_USUAL = (None, False, 0, "auto")


def _progress(search: Progress) -> str:
    text = (
        f"{search.name}: {search.units:,} of {search.of:,} units, {search.done:,} of "
        f"{search.total:,} {search.what} ({search.done / max(search.total, 1):.1%}); "
        f"{_duration(search.seconds)} of work"
    )
    if search.done == search.total:
        return text
    return f"{text}, about {_duration(search.remaining)} remain"


def _state(ledgers: list[Look], command: dict[str, Any] | None, path: str) -> str:
    if any(ledger.in_use for ledger in ledgers):
        return "a process is at work on it"
    searches = [search for ledger in ledgers for search in ledger.searches]
    if searches and all(search.done == search.total for search in searches):
        text = "all searches that have begun are finished"
    else:
        text = "unfinished" if searches else "nothing is finished yet"
    if command is None:
        return f"{text}; the same call continues"
    return f"{text}; torchcent resume {shlex.quote(path)} continues"


def _duration(seconds: float) -> str:
    for unit, length in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"
