"""The sums of a search: results of units are added in order, and recorded in the ledger.

Results that are exact are added as they come, and each unit keeps its file.
"""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.distribute._digest import plain
from torchcent.distribute._ledger import Ledger
from torchcent.distribute._records import About
from torchcent.distribute._units import Result, Search


class Totals:
    """Adds the results of the units of a search to its totals."""

    def __init__(self, search: Search, ledger: Ledger | None, number: int) -> None:
        self.search = search if ledger is None else search._replace(key=plain(search.key))
        self._ledger, self._number = ledger, number
        self.next = self.done = 0  # the first unit that is not in the totals; sources that are
        self.rung: int | None = None  # that of all units but the first; None until that is done
        self._seconds = 0.0
        self._waiting: dict[int, Result] = {}  # without parts: in the ledger, or in the totals
        if ledger is None:
            return
        sums = ledger.restore(number, self.search)
        first = 0 if sums is None else self._undamaged(sums.units)
        if sums is not None and first:
            self.next, self.done = first, self.search.part(first - 1).stop
            self.rung, self._seconds = sums.rung, sums.seconds
        for unit in ledger.units(number):
            result = None if unit < self.next else ledger.unit(number, unit, self.search)
            if result is None or not self._holds(unit, result.parts):
                ledger.drop_unit(number, unit)
            elif search.exact:
                self._fold(result)
            else:
                self._waiting[unit] = result._replace(parts=())
        self._catch_up()

    def _undamaged(self, units: int) -> int:
        """How many of the first units are there as the totals say."""
        lacking = (u for u in range(units) if not self._holds(u, self.search.outputs(u)))
        return next(lacking, units)

    def _holds(self, unit: int, parts: tuple[Tensor, ...]) -> bool:
        holds = self.search.holds
        return holds is None or holds(self.search.part(unit), parts)

    @property
    def complete(self) -> bool:
        return self.next == len(self.search.sizes)

    def has(self, unit: int) -> bool:
        return unit < self.next or unit in self._waiting

    @property
    def ahead(self) -> int:
        """The sources of units that were finished before their turn."""
        return sum(self.search.sizes[unit] for unit in self._waiting)

    def outputs(self, unit: int, device: torch.device) -> tuple[Tensor, ...]:
        """Zero-filled outputs of a unit: rows, and those of unit 0, are in the totals if they are
        on this device."""
        first = unit == 0 and not self.search.exact
        return tuple(
            place.zero_()
            if place.device == device and (kind == "rows" or first)
            else torch.zeros_like(place, device=device)
            for place, kind in zip(self.search.outputs(unit), self.search.kinds, strict=True)
        )

    def add(self, result: Result, free: bool = True) -> None:
        """Takes the result of a unit, which may come before its turn.

        If the device of the totals is not free, it is added by a later call that finds it free.
        """
        unit, exact = result.unit, self.search.exact
        self.rung = result.rung if unit == 0 else self.rung
        turn = free and unit == self.next
        if self._ledger is not None and (exact or not turn):
            about = self._about(unit, self.search.sizes[unit], result.rung, result.seconds)
            self._ledger.keep_unit(self._number, about, result.parts)
        if turn and not exact:
            self._fold(result)
        else:
            on_disk = self._ledger is not None and not exact
            self._waiting[unit] = result._replace(parts=()) if on_disk else result
        if free:
            self._catch_up()

    def _catch_up(self) -> None:
        """Adds the units whose turn it is now, and all that are exact."""
        if self.search.exact:
            for result in [*self._waiting.values()]:
                if result.parts:
                    self._fold(result)
        while self.next in self._waiting:
            unit = self.next
            result = self._waiting.pop(unit)
            if self.search.exact:  # they have been added
                self._advance(result)
                continue
            if not result.parts:
                assert self._ledger is not None
                again = self._ledger.unit(self._number, unit, self.search)
                if again is None:  # damaged since: it is computed again
                    return
                result = result._replace(parts=again.parts)
            self._fold(result)
            if self._ledger is not None:
                self._ledger.drop_unit(self._number, unit)

    def _fold(self, result: Result) -> None:
        row = self.search.place(result.unit)
        totals = zip(self.search.totals, self.search.kinds, result.parts, strict=True)
        for total, kind, part in totals:
            place = total[row] if kind == "rows" and isinstance(row, slice) else total
            if part.data_ptr() == place.data_ptr():
                continue  # computed in place
            if kind == "rows" and place is total:
                place[row] = part.to(place.device)
            elif kind == "rows":
                place.copy_(part)
            elif kind == "max":
                place.copy_(place.maximum(part.to(place.device)))
            else:
                place.add_(part.to(place.device))
        if self.search.exact:
            self._waiting[result.unit] = result._replace(parts=())
            return
        self._advance(result)
        if self._ledger is not None:
            assert self.rung is not None
            about = self._about(self.next, self.done, self.rung, self._seconds)
            self._ledger.keep(self._number, self.search, about)

    def _advance(self, result: Result) -> None:
        self.next, self.done = result.unit + 1, self.search.part(result.unit).stop
        self.rung = result.rung if result.unit == 0 else self.rung
        self._seconds += result.seconds

    def _about(self, units: int, done: int, rung: int, seconds: float) -> About:
        assert self._ledger is not None
        sizes = self.search.sizes
        return About(
            self._ledger.run, self.search.key, units=units, of=len(sizes), done=done,
            total=sum(sizes), rung=rung, seconds=seconds,
        )  # fmt: skip
