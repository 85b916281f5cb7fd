"""The sums of a search: results of units are added in order, and recorded in the ledger.

Results that are exact are added as they come, and each unit keeps its file.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from torchcent.scale._digest import plain
from torchcent.scale._ledger import Ledger
from torchcent.scale._records import About
from torchcent.scale._units import Search


class Tally:
    """Adds the results of the units of a search to its totals.

    Attributes:
        next: the first unit that is not in the totals.
        done: sources of the units in the totals.
        rung: that of all units but the first; None until the first is done.
    """

    def __init__(self, search: Search, ledger: Ledger | None, number: int) -> None:
        self.search = search if ledger is None else search._replace(key=plain(search.key))
        self._ledger, self._number = ledger, number
        self.next = self.done = 0
        self.rung: int | None = None
        self._seconds = 0.0
        self._waiting: dict[int, tuple[tuple[Tensor, ...] | None, int, float]] = {}
        if ledger is None:
            return
        known = ledger.restore(number, self.search)
        held = 0 if known is None else self._held(known.units)
        if known is not None and held:
            self.next, self.done = held, self.search.part(held - 1).stop
            self.rung, self._seconds = known.rung, known.seconds
        for unit in ledger.units(number):
            found = None if unit < self.next else ledger.unit(number, unit, self.search)
            if found is None or not self._holds(unit, found[1]):
                ledger.drop_unit(number, unit)
            elif search.exact:
                self._fold(unit, tuple(found[1]), found[0].rung, found[0].seconds)
            else:
                self._waiting[unit] = None, found[0].rung, found[0].seconds
        self._catch_up()

    def _held(self, units: int) -> int:
        """How many of the first units are there as the totals say."""
        for unit in range(units):
            if not self._holds(unit, self.search.outputs(unit)):
                return unit
        return units

    def _holds(self, unit: int, results: Sequence[Tensor]) -> bool:
        holds = self.search.holds
        return holds is None or holds(self.search.part(unit), tuple(results))

    @property
    def finished(self) -> bool:
        return self.next == len(self.search.sizes)

    def has(self, unit: int) -> bool:
        """Whether the results of a unit are known."""
        return unit < self.next or unit in self._waiting

    @property
    def ahead(self) -> int:
        """The sources of units that were finished before their turn."""
        return sum(self.search.sizes[unit] for unit in self._waiting)

    def outputs(self, unit: int, device: torch.device) -> tuple[Tensor, ...]:
        """Zero-filled outputs of a unit: rows, and those of unit 0, are in the totals if they are
        on this device."""
        found = []
        for place, kind in zip(self.search.outputs(unit), self.search.kinds, strict=True):
            first = unit == 0 and not self.search.exact
            own = place.device == device and (kind == "rows" or first)
            found.append(place.zero_() if own else torch.zeros_like(place, device=device))
        return tuple(found)

    def add(
        self, unit: int, results: tuple[Tensor, ...], rung: int, seconds: float, free: bool = True
    ) -> None:  # fmt: skip
        """Takes the results of a unit, which may come before its turn.

        If the device of the totals is not free, they are added by a later call that finds it free.
        """
        self.rung = rung if unit == 0 else self.rung
        exact, turn = self.search.exact, free and unit == self.next
        if self._ledger is not None and (exact or not turn):
            about = self._about(unit, self.search.sizes[unit], rung, seconds)
            self._ledger.keep_unit(self._number, about, results)
        if turn and not exact:
            self._fold(unit, results, rung, seconds)
        else:
            kept = self._ledger is not None and not exact
            self._waiting[unit] = None if kept else results, rung, seconds
        if free:
            self._catch_up()

    def _catch_up(self) -> None:
        """Adds the units whose turn it is now, and all that are exact."""
        if self.search.exact:
            for unit, (results, rung, seconds) in [*self._waiting.items()]:
                if results:
                    self._fold(unit, results, rung, seconds)
        while self.next in self._waiting:
            unit = self.next
            results, rung, seconds = self._waiting.pop(unit)
            if self.search.exact:  # they have been added
                self._advance(unit, rung, seconds)
                continue
            if results is None:
                assert self._ledger is not None
                found = self._ledger.unit(self._number, unit, self.search)
                if found is None:  # damaged since: it is computed again
                    return
                results = tuple(found[1])
            self._fold(unit, results, rung, seconds)
            if self._ledger is not None:
                self._ledger.drop_unit(self._number, unit)

    def _fold(self, unit: int, results: tuple[Tensor, ...], rung: int, seconds: float) -> None:
        row = self.search.place(unit)
        for total, kind, result in zip(self.search.totals, self.search.kinds, results, strict=True):
            place = total[row] if kind == "rows" and isinstance(row, slice) else total
            if result.data_ptr() == place.data_ptr():
                continue  # computed in place
            if kind == "rows" and place is total:
                place[row] = result.to(place.device)
            elif kind == "rows":
                place.copy_(result)
            elif kind == "max":
                place.copy_(place.maximum(result.to(place.device)))
            else:
                place.add_(result.to(place.device))
        if self.search.exact:
            self._waiting[unit] = (), rung, seconds
            return
        self._advance(unit, rung, seconds)
        if self._ledger is not None:
            assert self.rung is not None
            about = self._about(self.next, self.done, self.rung, self._seconds)
            self._ledger.keep(self._number, self.search, about)

    def _advance(self, unit: int, rung: int, seconds: float) -> None:
        self.next, self.done = unit + 1, self.search.part(unit).stop
        self.rung = rung if unit == 0 else self.rung
        self._seconds += seconds

    def _about(self, units: int, done: int, rung: int, seconds: float) -> About:
        assert self._ledger is not None
        sizes = self.search.sizes
        return About(
            self._ledger.run, self.search.key, units=units, of=len(sizes), done=done,
            total=sum(sizes), rung=rung, seconds=seconds,
        )  # fmt: skip
