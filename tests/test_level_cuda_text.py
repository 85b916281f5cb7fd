"""The text of the CUDA kernels that sweep over levels, run on the CPU with a thread for a thread:
against the CPU's kernels, which test_hierarchy_distances.py compares with others."""

import ctypes
import random

import pytest
import torch
from graphs import cycle, edge_index, grid, path, random_graph, random_tree, star, union
from internals import Hierarchy, control_record, core_of
from kernel_text import NEEDS_SOURCES, compiled
from torch import Tensor

from torchcent import Graph

ops = torch.ops.torchcent

pytestmark = NEEDS_SOURCES

F64 = torch.float64
GRAPHS = {
    "grid": (90, grid(9, 10)),
    "star": (40, star(39)),
    "sparse": (150, random_graph(150, 190, seed=1)),
    "dense": (40, random_graph(40, 300, seed=2)),
    "parts": union((70, random_tree(70, seed=3)), (9, cycle(9)), (12, grid(3, 4)), (3, path(3))),
}


@pytest.fixture(scope="module")
def level_text(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return compiled("level_text", tmp_path_factory.mktemp("level"))


def contracted(n: int, arcs: list, unit: int) -> Hierarchy:
    """That of a graph without isolated vertices, with lengths of several units."""
    chance = random.Random(n)
    weight = torch.tensor([float(unit * chance.randint(1, 6)) for _ in arcs], dtype=F64)
    graph = Graph.from_edge_index(edge_index(arcs), n, False, weight)
    found = Hierarchy.of(core_of(graph, "degree", "no"))
    assert found is not None
    return found


def swept(
    library: ctypes.CDLL, found: Hierarchy, first: Tensor, to: Tensor, length: Tensor,
    sources: Tensor, target: Tensor, slots: int,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Sums, the largest distances, and distances."""
    n, count = found.vertex.numel(), sources.numel()
    order, begin, parent, depth = ops.hierarchy_levels(first, to, found.last)
    sums, farthest, out = (
        torch.full(shape, 7.0, dtype=F64) for shape in ((count, 3), (count,), (count, n))
    )
    up = first.view(-1, n + 1)[-1]
    arrays = first, up, to, length, found.last, parent, depth, order, begin
    rest = found.vertex, sources
    pointers = [ctypes.c_void_p(x.data_ptr()) for x in arrays]
    library.level_text(
        ctypes.c_bool(found.longest < 2**29), ctypes.c_int64(n), ctypes.c_int64(found.height),
        *pointers, ctypes.c_int64(begin.numel() - 1),
        *(ctypes.c_void_p(x.data_ptr()) for x in rest), ctypes.c_int64(count),
        ctypes.c_void_p(target.data_ptr()), ctypes.c_int64(slots),
        *(ctypes.c_void_p(x.data_ptr()) for x in (sums, farthest, out)),
    )  # fmt: skip
    return sums, farthest, out


@pytest.mark.sweep(by="name")
@pytest.mark.parametrize("unit", [1, 2**31 - 1])
@pytest.mark.parametrize("name", list(GRAPHS))
def test_same_as_on_the_cpu(level_text: ctypes.CDLL, name: str, unit: int) -> None:
    found = contracted(*GRAPHS[name], unit)
    n = found.vertex.numel()
    chance = torch.Generator().manual_seed(1)
    target = torch.randint(0, 3, (n,), generator=chance).double()
    count = 201
    sources = torch.randint(0, n, (count,), generator=chance)
    given = found.first, found.to, found.length
    sums, farthest, out = swept(level_text, found, *given, sources, target, slots=3)
    expected, largest = torch.zeros(count, 3, dtype=F64), torch.zeros(count, dtype=F64)
    control = control_record()
    ops.hierarchy_sums(found.swept, sources, target, expected, largest, control, True, 1024, 1)
    torch.testing.assert_close(sums, expected, rtol=1e-12, atol=0)
    assert torch.equal(farthest, largest)
    rows = torch.zeros(count, n, dtype=F64)
    ops.hierarchy_distances(
        found.vertex, *given, found.last, found.sequence, found.split, found.cells[-1], sources,
        rows, control, 1,
    )  # fmt: skip
    assert torch.equal(out, rows)


@pytest.mark.parametrize("unit", [1, 2**31 - 1])
def test_other_arcs_upwards_than_downwards(level_text: ctypes.CDLL, unit: int) -> None:
    """Of a directed hierarchy, in which not all vertices are reached."""
    found = contracted(*GRAPHS["sparse"], unit)
    n, arcs, chance = found.vertex.numel(), found.num_arcs, random.Random(5)
    lists: list[list[list[tuple[int, int]]]] = []
    for _ in range(2):  # down, up
        kept: list[list[tuple[int, int]]] = [[] for _ in range(n)]
        for p in range(n):
            for i in range(int(found.first[p]), int(found.first[p + 1])):
                if chance.random() < 0.7:
                    kept[p].append((int(found.to[i]), unit * chance.randint(1, 9)))
        lists.append(kept)
    flat = [arc for kept in lists for own in kept for arc in own]
    ends = torch.tensor([0] + [len(own) for kept in lists for own in kept]).cumsum(0)
    first = torch.stack([ends[: n + 1], ends[n:]]).contiguous()
    to = torch.tensor([to for to, _ in flat], dtype=torch.int32)
    length = torch.tensor([length for _, length in flat])
    assert arcs < len(flat) < 2 * arcs
    target, sources = torch.ones(n, dtype=F64), torch.arange(n)
    sums, farthest, out = swept(level_text, found, first, to, length, sources, target, slots=2)
    expected = torch.full((n, n), torch.inf, dtype=F64)
    for source in range(n):
        distance = [float("inf")] * n
        distance[source] = 0
        for p in reversed(range(source + 1)):  # climbs
            for upper, more in lists[1][p]:
                distance[upper] = min(distance[upper], distance[p] + more)
        for p in range(n):
            for upper, more in lists[0][p]:
                distance[p] = min(distance[p], distance[upper] + more)
        expected[source] = torch.tensor(distance, dtype=F64)
    place = torch.empty_like(found.vertex)
    place[found.vertex] = torch.arange(n)
    expected = expected[place][:, place]
    assert torch.equal(out, expected) and not torch.isfinite(expected).all()
    others = (expected > 0) & torch.isfinite(expected)
    reached = torch.where(others, expected, 0)
    torch.testing.assert_close(sums[:, 0], reached.sum(1), rtol=1e-12, atol=0)
    inverse = torch.where(others, 1 / expected, 0).sum(1)
    torch.testing.assert_close(sums[:, 1], inverse, rtol=1e-12, atol=0)
    assert torch.equal(sums[:, 2], others.sum(1).double())
    assert torch.equal(farthest, reached.amax(1))


def test_levels() -> None:
    """Arcs lead down to later levels, and vertices with no arcs down come last."""
    found = contracted(*GRAPHS["parts"], 1)
    order, begin, parent, depth = ops.hierarchy_levels(found.first, found.to, found.last)
    n, inner = found.vertex.numel(), int(begin[-1])
    assert torch.equal(order.long().sort().values, torch.arange(n))
    level = torch.empty(n, dtype=torch.int64)
    place = torch.searchsorted(begin, torch.arange(n), right=True)
    level[order.long()] = place
    lower = torch.arange(n).repeat_interleave(found.first.diff())
    assert bool((level[lower] > level[found.to.long()]).all())
    assert set(order[inner:].tolist()) == set(range(n)) - set(found.to.tolist())
    for p in range(n):
        above, up = 0, int(parent[p])
        while up >= 0:
            assert up < p < found.last[up]
            above, up = above + 1, int(parent[up])
        assert above == depth[p] and above < found.height
