"""Parameters of an iteration, and its summary."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TypeAlias

import torch
from torch import Tensor

from torchcent.check._values import number as _number
from torchcent.check._values import shortened, within
from torchcent.clustering._flow import Flow

# mcl cuts slightly below 1/P, so that an entry of exactly 1/P stays.
_BELOW = 0.99999
# P, S, R of mcl's resource schemes 1 to 7; recovery is always tried below 90 % of the mass.
_SCHEMES = (
    (3000, 400, 500), (4000, 500, 600), (5000, 600, 700), (6000, 700, 800), (7000, 800, 900),
    (10000, 1100, 1400), (10000, 1200, 1600),
)  # fmt: skip


@dataclass(frozen=True)
class Prune:
    """How entries of a column are pruned after expansion, following mcl.

    1. *Cut*: entries below `threshold` are dropped.
    2. *Recover*: if the remaining entries sum to less than `mass` and are fewer than `recover`, the
       `recover` largest entries of the whole column are kept instead.
    3. *Select*: otherwise, if more than `select` entries remain, the `select` largest are kept. If
       these sum to less than `mass`, the `recover` largest of the remaining entries are kept.

    Entries equal to the smallest kept entry are kept, too. If all entries of a column would be
    dropped, the largest is kept. The column is then rescaled to sum 1.

    Attributes:
        threshold: mcl's ``-p``, or 0.99999 / ``-P``; 0 disables the cut.
        select: mcl's ``-S``; 0 disables the selection.
        recover: mcl's ``-R``; 0 disables the recovery.
        mass: mcl's ``-pct``, as a fraction.

    The default is mcl's scheme 6. ``prune=None`` in place of a Prune disables all three steps.

    Example:
        >>> Prune.scheme(6) == Prune()
        True
        >>> Prune.from_mcl(P=4000, S=500)
        Prune(threshold=0.0002499975, select=500, recover=1400, mass=0.9)
    """

    threshold: float = _BELOW / 10000
    select: int = 1100
    recover: int = 1400
    mass: float = 0.9

    def __post_init__(self) -> None:
        for name in ("threshold", "mass"):
            share = within(getattr(self, name), f"Prune: {name}", "[0, 1]")
            object.__setattr__(self, name, share)  # a number of Python, not of NumPy
        for name in ("select", "recover"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral):
                raise TypeError(f"Prune: {name} must be an int, got {shortened(value)}")
            if not 0 <= int(value) < 2**31:
                raise ValueError(
                    f"Prune: {name} must be in [0, 2^31), got {shortened(value)}; 0 is off"
                )
            object.__setattr__(self, name, int(value))

    @classmethod
    def scheme(cls, number: int) -> Prune:
        """mcl's resource schemes 1 to 7; higher schemes are more accurate and more expensive."""
        whole = isinstance(number, Integral) and not isinstance(number, bool)
        if not whole or not 1 <= int(number) <= len(_SCHEMES):
            raise ValueError(f"scheme must be 1 to {len(_SCHEMES)}, got {shortened(number)}")
        limit, select, recover = _SCHEMES[number - 1]
        return cls(_BELOW / limit, select, recover)

    @classmethod
    def from_mcl(
        cls, *, P: int | None = None, S: int | None = None, R: int | None = None,
        pct: float | None = None,
    ) -> Prune:  # fmt: skip
        """Uses the names of mcl's options and mcl's defaults. P=0 disables the cut."""
        base = cls()
        if P is not None and _number(P, "P") < 0:
            raise ValueError(f"P must be a number >= 0, got {shortened(P)}")
        return cls(
            base.threshold if P is None else min(_BELOW / P, 1.0) if P else 0.0,
            base.select if S is None else S,
            base.recover if R is None else R,
            base.mass if pct is None else _number(pct, "pct") / 100,
        )

    @property
    def most(self) -> int | None:
        """Maximum number of entries of a pruned column, except for ties; None if there is no
        limit."""
        limits = []
        if self.select:
            limits.append(max(self.select, self.recover))
        if self.threshold:
            limits.append(max(int(min(1.001 / self.threshold, 2**31)), self.recover))
        return min(limits) if limits else None


#: the shares [first, last) of `parts` into which the columns of a flow are dealt
Share: TypeAlias = tuple[int, int, int]
WHOLE: Share = (0, 1, 1)


def columns_of(share: Share, n: int) -> tuple[int, int]:
    """The columns of a share where shares are consecutive columns: in all engines but `fused` on
    the CPU, which deals them by cost."""
    first, last, parts = share
    return n * first // parts, n * last // parts


@dataclass(frozen=True)
class Rules:
    """What an iteration does, and when to stop."""

    expansion: int
    prune: Prune | None
    inflation: float = 2.0
    chaos: float = 1e-4
    max_iter: int = 10000

    def arguments(self) -> tuple[int, float, float, int, int, float]:
        """expansion, inflation, threshold, select, recover, mass, as operators expect them; 0
        disables a rule."""
        cut = self.prune or Prune(0.0, 0, 0, 0.0)
        return self.expansion, self.inflation, cut.threshold, cut.select, cut.recover, cut.mass


@dataclass(frozen=True)
class Summary:
    # Maximum over the columns of (largest - sum of squares) x number of the entries that pruning
    # keeps, before they are rescaled.
    chaos: float
    products: int  # multiplications of the expansion
    entries: int  # after pruning
    poor: int  # columns that keep less than Prune.mass
    recovers: int  # columns in which entries are recovered
    selects: int  # columns that are limited to their largest entries
    mass: float  # the smallest share of a column that pruning keeps
    total_mass: float  # the sum of these shares

    @staticmethod
    def of_no_columns() -> Tensor:
        """float64 [8]."""
        return torch.tensor([0, 0, 0, 0, 0, 0, 1, 0], dtype=torch.float64, device="cpu")

    @classmethod
    def of(cls, values: Tensor) -> Summary:
        chaos, *counts, least, total = values.tolist()
        products, entries, poor, recovers, selects = map(int, counts)
        return cls(chaos, products, entries, poor, recovers, selects, mass=least, total_mass=total)


def step_memory(flow: Flow, rules: Rules) -> Tensor:
    """int64 [n]: maximum entries of each column after expansion and pruning, ties aside."""
    cap = rules.prune.most if rules.prune is not None else None
    most = flow.length.long()
    for _ in range(rules.expansion - 1):
        most = flow.sums(most).clamp(max=flow.num_nodes)
    return most if cap is None else most.clamp(max=cap)
