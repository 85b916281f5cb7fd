"""Random networks: scores and distances from hierarchies against single searches and definitions.

    python fuzz/hierarchies.py --graphs 100000 --seed 1

Networks of several components (tests/test_hierarchy.py), undirected ones and as many directed ones,
now and then large enough for cells in cells, by hops and by lengths with many ties. A fifth have
parallel arcs and loops, and some are chains of diamonds with up to 2^1200 paths. Betweenness with
and without endpoints, edge betweenness, stress and percolation, for random sources and targets,
weights of both, and states, with and without folding, with few and many sources side by side, on
each rung of the ladder: as the engine "reference" has them, single searches where there are more
paths than it counts, and for small networks as all shortest paths enumerated in fractions. Zeros
are zeros. With random float lengths, and with vertices renumbered, too.

Distances as the engine "reference" has them: closeness and harmonic centrality from all or some
vertices, within cutoffs, and eccentricities; diameter, radius, center and periphery as single
searches have them; rows, and the lengths of shortest paths, whose arcs are added up. The first
faults are printed; if there are any, the status is 1.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]

import path_oracles  # noqa: E402
from graphs import some_or_all  # noqa: E402
from test_hierarchy import Network, known, network, streets  # noqa: E402

import torchcent  # noqa: E402
from torchcent import Graph, Run, generate  # noqa: E402
from torchcent.distances import _by_hierarchy  # noqa: E402
from torchcent.engines.plan import _climbs  # noqa: E402
from torchcent.engines.reduce import _hierarchy, _hierarchy_costs, _reduce  # noqa: E402
from torchcent.engines.search import _driver  # noqa: E402

F64 = torch.float64
#: vertices up to which all paths are enumerated
ENUMERATED = 14
#: relative error on each rung
PRECISION = (1e-5, 1e-11, 1e-11, 1e-9)
#: of lengths that are rounded to a fixed point
FIXED_POINT = 3
SHOWN = 3
#: of lengths; None: by hops
UNITS = {"hops": None, "decimal": 0.1}


def meshes(chance: random.Random) -> Network:
    """A network with hundreds of vertices."""
    side, other = chance.randint(9, 24), chance.randint(9, 24)
    kind = chance.choice(["road", "grid", "delaunay"])
    if kind == "delaunay":
        index = generate.delaunay(side * other)
    else:
        index = getattr(generate, kind)(side, other)
    lengths = range(1, chance.choice([1, 2, 3, 1000]) + 1)
    edges = [(u, v, chance.choice(lengths)) for u, v in index.T.tolist() if u < v]
    n = int(index.max()) + 1
    if chance.random() < 0.5:
        return Network(n, streets(chance, edges, lengths), True)
    return Network(n, edges, False)


def multiple(net: Network, chance: random.Random) -> Network:
    """With some arcs twice, the second time of any length, and loops."""
    again = [
        (u, v, chance.choice([w, w, w + 1, max(1, w - 1)]))
        for u, v, w in net.edges
        if chance.random() < 0.3
    ]
    loops = [(v, v, 1) for v in range(net.n) if chance.random() < 0.1]
    edges = [*net.edges, *again, *loops]
    chance.shuffle(edges)
    return net._replace(edges=edges)


def diamonds(chance: random.Random) -> Network:
    """A chain of them, each with as many paths as it has vertices in the middle."""
    edges, n = list[tuple[int, int, float]](), 1
    wide = chance.choice([2, 16, 64])
    for _ in range(chance.randint(1, {2: 300, 16: 40, 64: 200}[wide])):
        for middle in range(n, n + wide):
            edges += [(n - 1, middle, 1), (middle, n + wide, 1)]
        n += wide + 1
    return Network(n, edges, chance.random() < 0.3)


def options_of(name: str, n: int, chance: random.Random) -> dict[str, Any]:
    if name == "percolation":
        states = [chance.choice([0, 0, 1e-3, 0.1, 1, 3]) for _ in range(n)]
        return {"states": torch.tensor(states, dtype=F64)}
    given: dict[str, Any] = {}
    demand = chance.random() < 0.25
    for end in ("sources", "targets"):
        chosen = some_or_all(n, chance)
        given[end] = None if chosen is None else torch.tensor(chosen)
        if demand:
            weights = [chance.choice([0, 0.25, 1, 3.5, 40]) for _ in range(n)]
            given[end] = torch.tensor(weights, dtype=F64)
    if name == "betweenness":
        given["endpoints"] = chance.random() < 0.5
    return given


def close(found: torch.Tensor, expected: torch.Tensor, precision: float) -> bool:
    same = torch.allclose(found, expected, rtol=precision, atol=1e-300, equal_nan=True)
    return same and bool(((found == 0) == (expected == 0)).all())


def faults(seed: int) -> tuple[int, list[str]]:
    """The number of comparisons, and those that failed."""
    chance = random.Random(seed)
    large = chance.random() < 0.02
    if chance.random() < 0.005:
        return of_diamonds(seed, chance)
    net = meshes(chance) if large else network(chance, chance.choice([6, 12, 40]))
    single = chance.random() < 0.8
    net = net if single else multiple(net, chance)
    n = net.n
    if not n:
        return 0, []
    kind = chance.choice(["hops", "whole", "decimal", "float"])
    if kind == "float":
        net = net._replace(edges=[(u, v, w * chance.uniform(0.5, 2)) for u, v, w in net.edges])
    graph = net.graph(UNITS.get(kind, 1.0))
    count, failed = 0, []

    def compare(what: str, found: torch.Tensor, expected: torch.Tensor, rung: int) -> None:
        nonlocal count
        count += 1
        if not close(found, expected, PRECISION[rung]):
            failed.append(f"seed {seed}: {what}, {kind}, rung {rung}, {net}")

    for name in ("betweenness", "edge_betweenness", "stress", "percolation"):
        given = options_of(name, n, chance)
        measure = getattr(torchcent, name)
        expected = known(name, graph, **given)
        _hierarchy_costs.LANES = chance.choice([1, 4, 16, 64, 1024])
        rung = chance.randrange(3)
        _driver._first_rung = lambda *_, first=rung: first
        for reduce in ("none", "fold"):
            found = measure(graph, run=Run(engine="hierarchy", reduce=reduce, dtype=F64), **given)
            compare(f"{name} {reduce} {given}", found, expected, rung)
        ends = (given.get(end) for end in _ENDS)
        demand = any(end is not None and end.is_floating_point() for end in ends)
        plain = single and not demand and kind != "float" and name != "percolation"
        if plain and n <= ENUMERATED:
            arcs, weights = [(u, v) for u, v, _ in net.edges], [w for *_, w in net.edges]
            ends = {k: None if x is None else x.tolist() for k, x in given.items() if k in _ENDS}
            every = path_oracles.scores(
                name, n, arcs, [1] * len(arcs) if kind == "hops" else weights,
                directed=net.directed, normalized=False,
                endpoints=given.get("endpoints", False), **ends,
            )  # fmt: skip
            exact = torch.tensor([float(x) for x in every], dtype=F64)
            raw = measure(graph, run=Run(engine="hierarchy", dtype=F64), normalized=False, **given)
            compare(f"enumerated {name} {given}", raw, exact, 0)
    compare("renumbered", *renumbered(graph, net, kind, chance), 0)
    # Rows and routes of sums that are rounded are not from hierarchies.
    exact_sums = not graph.is_weighted or graph.scale.exact
    for what, found, expected in sums_of_distances(graph, chance):
        compare(what, found, expected, 1 if exact_sums else FIXED_POINT)
    if not exact_sums:
        return count, failed
    for what, found, expected in extremes(graph):
        compare(what, found, expected, 1)
    if single:  # dok_array adds parallel arcs up
        for what, found, expected in routes(graph, chance):
            compare(what, found, expected, 1)
    return count, failed


def of_diamonds(seed: int, chance: random.Random) -> tuple[int, list[str]]:
    """Scores where there may be more paths than float64 counts, beside single searches."""
    net = diamonds(chance)
    kind = chance.choice(["hops", "whole"])
    graph, failed = net.graph(UNITS.get(kind, 1.0)), []
    names = "betweenness", "edge_betweenness"
    some = torch.tensor(chance.sample(range(net.n), min(net.n, 8)))
    _hierarchy_costs.LANES = chance.choice([4, 1024])
    _driver._first_rung = lambda *_: 0
    for name in names:
        one = "dijkstra" if graph.is_weighted else "queue"
        found, expected = (
            getattr(torchcent, name)(
                graph, sources=some, run=Run(engine=engine, reduce="none", dtype=F64)
            )
            for engine in ("hierarchy", one)
        )
        if not close(found, expected, PRECISION[0]):
            failed.append(f"seed {seed}: {name}, {kind}, diamonds, {net.n} vertices")
    return len(names), failed


_ENDS = ("sources", "targets")


def renumbered(
    graph: Graph, net: Network, kind: str, chance: random.Random
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores of the same network with other numbers, in the order of the first."""
    label = [*range(net.n)]
    chance.shuffle(label)
    edges = [(label[u], label[v], w) for u, v, w in reversed(net.edges)]
    other = net._replace(edges=edges).graph(UNITS.get(kind, 1.0))
    found = torchcent.betweenness(
        other,
        run=Run(engine="hierarchy", dtype=F64),
    )
    return found[label], torchcent.betweenness(
        graph,
        run=Run(engine="hierarchy", dtype=F64),
    )


Compared = tuple[str, torch.Tensor, torch.Tensor]


def sums_of_distances(graph: Graph, chance: random.Random) -> Iterator[Compared]:
    """What is compared, of a hierarchy and of single searches."""
    n = graph.num_nodes
    _by_hierarchy._LEAST_COLLAPSED = chance.choice([0, 2**20])
    of_ends = ("closeness", "vertices"), ("closeness", "sources"), ("harmonic", "vertices")
    for name, end in (*of_ends, ("harmonic", "sources"), ("eccentricity", "vertices")):
        chosen = some_or_all(n, chance)
        given = {end: None if chosen is None else torch.tensor(chosen)}
        # By float lengths, a path as long as a cutoff may be rounded to either side.
        lengths = graph.is_weighted and graph.scale.exact and graph.num_slots
        if lengths and name != "eccentricity":
            longest = float(graph.weight.max()) * chance.choice([0, 0.5, 1, 3, 9])
            given["cutoff"] = chance.choice([None, longest, [longest, 2 * longest]])
        measure = getattr(torchcent, name)
        found, expected = (
            measure(graph, run=Run(engine=engine, dtype=F64), **given)
            for engine in ("hierarchy", "reference")
        )
        yield f"{name} {given}", found, expected


def extremes(graph: Graph) -> Iterator[Compared]:
    """The ends of the range of distances, of each component."""
    single = "dijkstra" if graph.is_weighted else "bits"
    for name in ("diameter", "radius", "center", "periphery"):
        found, expected = (
            getattr(torchcent, name)(graph, disconnected="component", run=Run(engine=engine))
            for engine in ("hierarchy", single)
        )
        yield name, found.double(), expected.double()


def routes(graph: Graph, chance: random.Random) -> Iterator[Compared]:
    """Rows of distances, and paths."""
    n, single = graph.num_nodes, "dijkstra"
    if graph.is_weighted:
        rows, found = (
            torchcent.shortest_path_lengths(graph, run=Run(engine=engine), dtype=F64)
            for engine in (single, "hierarchy")
        )
        yield "rows", found, rows
    else:
        rows, found = (
            torchcent.shortest_path_lengths(graph, run=Run(engine=engine)).double()
            for engine in ("bits", "hierarchy")
        )
        yield "rows", found, rows
        rows[rows < 0] = math.inf
    _hierarchy.Hierarchy.of(_reduce.core(graph, "degree", "all"))
    assert _climbs.kept(graph) is not None
    ends = torch.randint(
        n, (2, 20), generator=torch.Generator().manual_seed(chance.getrandbits(32))
    )
    paths = torchcent.shortest_path(graph, *ends)
    length = graph.to_scipy().todok()
    along = [
        sum(length[arc] for arc in pairwise(path.path.tolist())) if path.path.numel() else math.inf
        for path in paths
    ]
    expected = rows[ends[0], ends[1]]
    yield f"paths {ends.tolist()}", torch.tensor(along, dtype=F64), expected
    yield f"lengths {ends.tolist()}", torch.tensor([p.length for p in paths], dtype=F64), expected


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
