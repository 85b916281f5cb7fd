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
_USUAL = (None, False, 0, "auto")  # values that are not shown


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
        hint = "; a file of stream --checkpoint continues with the same command" * folder.is_file()
        raise FileNotFoundError(f"{path}: no such folder{hint}")
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
    ledgers, command = _looked_at(path)
    looks = list(ledgers.values())
    return {
        "ledger": path,
        "arguments": command and command["arguments"],
        "folder": command and command["folder"],
        "run": looks[0].key,
        "searches": [
            search._asdict() | {"remaining": search.remaining}
            for each in looks
            for search in each.searches
        ],
        "finished": all(each.searches and _are_finished(each.searches) for each in looks),
        "in_use": any(each.in_use for each in looks),
        "files": sum(each.files for each in looks),
        "bytes": sum(each.nbytes for each in looks),
        "damaged": [name for each in looks for name in each.damaged],
    }


def describe(path: str) -> str:
    """The output of ``torchcent info`` for a ledger."""
    ledgers, command = _looked_at(path)
    looks = list(ledgers.values())
    rows = {"ledger": path} | _identity(looks[0], command)
    if command is not None and "" not in ledgers:
        rows["run"] = command["arguments"][0]
    for name, each in ledgers.items():
        for number, search in enumerate(each.searches, 1):
            rows[f"{name or 'search'} {number}"] = _progress(search)
    rows["state"] = _state(looks, command, path)
    nbytes, files = sum(each.nbytes for each in looks), sum(each.files for each in looks)
    rows["on disk"] = f"{readable(nbytes)} in {files} files"
    damaged = [f"{'damaged':<12} {x}; it is not used" for each in looks for x in each.damaged]
    return "\n".join([aligned_rows(rows), *damaged])


def _looked_at(path: str) -> tuple[dict[str, Look], dict[str, Any] | None]:
    """The ledgers of a command by name, "" if it has a single one, and the command."""
    folders = [each for each in sorted(Path(path).iterdir()) if each.is_dir()]
    try:
        if folders:
            return {each.name: _look.look(each) for each in folders}, recorded(path)._asdict()
        ledger = _look.look(Path(path))
    except ValueError as error:
        raise ValueError(f"{path} is no ledger: {error}") from None
    return {"": ledger}, ledger.command


def _identity(ledger: Look, command: dict[str, Any] | None) -> dict[str, str]:
    """The rows that say which run it is."""
    rows = {}
    if command is not None:
        rows["command"] = str(Command(**command))
    if ledger.key is not None:
        key = ledger.key
        set_ = {name: value for name, value in key.items() if name not in _ELSEWHERE}
        options = [f"{name}={value}" for name, value in set_.items() if value not in _USUAL]
        rows["run"] = ", ".join([str(key["measure"]), *options])
        *sizes, digest = str(key["graph"]).split(", ")
        sizes = [re.sub(r"\d+", lambda number: f"{int(number[0]):,}", size) for size in sizes]
        rows["graph"] = ", ".join([*sizes, digest])
        rows["made by"] = f"torchcent {key['torchcent']}, PyTorch {key['torch']}, {key['kernels']}"
    return rows


def _are_finished(searches: list[Progress]) -> bool:
    return all(search.done == search.total for search in searches)


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
    if searches and _are_finished(searches):
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
