"""Random graphs full of twins, blocks, chains and trees: every reduction against the definition.

    python fuzz/reductions.py --graphs 10000 --seed 1
    TORCHCENT_TEST_DEVICE=cuda python fuzz/reductions.py

Half of the graphs are directed. Scores are compared with those of tests/oracles.py and, with
weights, tests/path_oracles.py, which enumerate pairs in fractions: betweenness with and without
endpoints, edge betweenness and stress, for random sources and targets, on each engine that has
reductions and with each combination of them; chains by searches from each source or by sweeps for
several, at random. The first faults are printed with their graphs; if there are any, the status
is 1.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import time
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]

import oracles  # noqa: E402
import path_oracles  # noqa: E402
from graphs import DEVICE, Arcs, edge_index  # noqa: E402
from pieces import pieces  # noqa: E402

import torchcent  # noqa: E402
from torchcent import Run  # noqa: E402
from torchcent.check._common import REDUCTIONS  # noqa: E402
from torchcent.engines.reduce import _chains  # noqa: E402

#: by hops and by weights
PRECISION = {
    False: {"lanes": 1e-5, "queue": 1e-9, "auto": 1e-9},
    True: {"relax": 1e-5, "dijkstra": 1e-9, "auto": 1e-9},
}
COMBINATIONS = [
    list(some) for size in range(1, len(REDUCTIONS) + 1)
    for some in itertools.combinations(REDUCTIONS, size)
]  # fmt: skip
SHOWN = 3


def close(found: torch.Tensor, expected: list[Any], precision: float) -> bool:
    known = torch.tensor([float(x) for x in expected], dtype=torch.float64)
    floor = 1e-12 * float(known[known.isfinite()].abs().max()) if known.isfinite().any() else 0.0
    return torch.allclose(found.cpu(), known, precision, floor, equal_nan=True)


def faults(seed: int) -> tuple[int, list[str]]:
    """The number of comparisons, and those that failed."""
    chance = random.Random(seed)
    directed = chance.random() < 0.5
    n, arcs, weights = pieces(chance, directed)
    _chains._MOST_AT = chance.choice([-1, 32])
    _chains._TOGETHER = _chains._TOGETHER_ON_CUDA = {False: 0.0, True: 0.0}
    count, failed = 0, []
    for given in (None, weights):
        compared, wrong = compare(f"seed {seed}", chance, n, arcs, given, directed)
        count += compared
        failed += wrong
    return count, failed


def compare(
    seed: str,
    chance: random.Random,
    n: int,
    arcs: Arcs,
    weights: list[int] | None,
    directed: bool,
) -> tuple[int, list[str]]:
    weighted = weights is not None
    edge_weight = torch.tensor(weights, dtype=torch.float64, device=DEVICE) if weighted else None
    made = torchcent.Graph.from_edge_index(
        edge_index(arcs).to(DEVICE), n, directed=directed, edge_weight=edge_weight
    )
    ends: dict[str, list[int] | None] = {
        name: None if chance.random() < 0.4 else chance.sample(range(n), chance.randint(1, n))
        for name in ("sources", "targets")
    }
    given = {k: None if x is None else torch.tensor(x) for k, x in ends.items()}
    failed, count = [], 0
    for name in ("betweenness", "edge_betweenness", "stress"):
        options: dict[str, Any] = {"normalized": chance.random() < 0.5}
        if name == "betweenness":
            options["endpoints"] = chance.random() < 0.5
        if weights is None:
            expected = getattr(oracles, name)(n, arcs, directed=directed, **options, **ends)
        else:
            expected = path_oracles.scores(
                name, n, arcs, weights, directed=directed, **options, **ends
            )
        engines = PRECISION[weighted].items()
        for reduce, (engine, precision) in itertools.product(COMBINATIONS, engines):
            found = getattr(torchcent, name)(
                made, run=Run(engine=engine, reduce=reduce, dtype=torch.float64), **options, **given
            )
            count += 1
            if not close(found, expected, precision):
                failed.append(
                    f"{seed}: {name} {engine} {reduce} {options} {ends} {directed=} {n} {arcs} "
                    f"{weights}"
                )
    return count, failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=1000)
    parser.add_argument(
        "--seed", type=int, default=0, help="of the first graph; the next ones follow"
    )
    parser.add_argument("--seconds", type=float, default=float("inf"), help="at most")
    asked = parser.parse_args()
    begin, graphs, count, failed = time.monotonic(), 0, 0, []
    for seed in range(asked.seed, asked.seed + asked.graphs):
        if time.monotonic() - begin > asked.seconds:
            break
        graphs += 1
        compared, wrong = faults(seed)
        count += compared
        failed += wrong
    print(*failed[:SHOWN], sep="\n")
    seconds = time.monotonic() - begin
    print(f"{graphs} graphs, {count} comparisons, {len(failed)} faults, {seconds:.0f} s")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
