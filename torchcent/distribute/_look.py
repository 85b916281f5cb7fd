"""What a ledger holds, for those who only look."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from torchcent.distribute import _ledger, _records
from torchcent.distribute._records import COMMAND, HEADER, About, Damage


class Progress(NamedTuple):
    """A search that has begun: finished and all units, sources (or `what` else), and seconds of
    work."""

    name: str
    units: int
    of: int
    done: int
    total: int
    seconds: float
    what: str = "sources"

    @property
    def remaining(self) -> float:
        """Seconds of work that remain, if all sources take equally long."""
        return self.seconds * (self.total - self.done) / max(self.done, 1)


class Look(NamedTuple):
    """A ledger."""

    key: dict[str, Any] | None  # which run it is, if that is known
    command: dict[str, Any] | None  # its arguments and folder, if it was made by a command
    searches: list[Progress]  # those that have begun, in their order
    damaged: list[str]  # the files that a run would not use, and why
    files: int
    nbytes: int
    in_use: bool  # whether a process is at work on it


def is_ledger(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (HEADER, COMMAND))


def look(folder: Path) -> Look:
    """Reads all files of a ledger, and changes nothing; ValueError if it holds something else."""
    damaged: list[str] = []
    key = command = None
    try:
        key = _records.header(folder)
    except Damage as damage:
        damaged.append(f"{HEADER}: {damage}")
    try:
        command = _records.read_record(folder / COMMAND)
    except FileNotFoundError:
        pass
    except Damage as damage:
        damaged.append(f"{COMMAND}: {damage}")
    files: dict[int, dict[int | None, About]] = {}
    for number, unit, path in _records.results(folder):
        try:
            about, _ = _records.read_results(path, arrays=False)
        except Damage as damage:
            damaged.append(f"{path.name}: {damage}")
        except FileNotFoundError:  # a run has just finished with it
            pass
        else:
            files.setdefault(number, {})[unit] = about
    sizes = [path.stat().st_size for path in folder.iterdir() if path.is_file()]
    searches = [_progress(files[number]) for number in sorted(files)]
    in_use = _ledger.in_use(folder)
    return Look(key, command, searches, damaged, len(sizes), sum(sizes), in_use)


def _progress(files: dict[int | None, About]) -> Progress:
    """That of a search, by its sums and the units that are not yet in them."""
    sums = files.get(None)
    first = 0 if sums is None else sums.units
    later = [about for unit, about in files.items() if unit is not None and unit >= first]
    parts = later if sums is None else [sums, *later]
    key, of, total = parts[0].search, parts[0].of, parts[0].total
    name = f"{key.get('search')}" + (f" ({key['engine']})" if "engine" in key else "")
    return Progress(
        name, units=first + len(later), of=of, done=sum(about.done for about in parts), total=total,
        seconds=sum(about.seconds for about in parts), what=str(key.get("what", "sources")),
    )  # fmt: skip
