"""Markov clustering of graphs that look alike from many sides: rounding decides nothing."""

import hashlib
import os
import subprocess
import sys

import pytest
import torch
from graphs import DEVICE
from internals import has_kernel
from surface import call
from torch import Tensor

import torchcent

# Runs end after 70 iterations here, whether they have converged or not.
pytestmark = pytest.mark.filterwarnings("ignore:mcl has not converged")
ENGINES = ["dense", "tensor", *(["fused"] if has_kernel("mcl_iterate", DEVICE) else [])]
EXACT = ["dense", *(["fused"] if has_kernel("mcl_iterate", DEVICE) else [])]
Edges = tuple[Tensor, int]


def edges(pairs: list[tuple[int, int]], n: int) -> Edges:
    return torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T, n


def path(n: int) -> Edges:
    return edges([(i, i + 1) for i in range(n - 1)], n)


def cycle(n: int) -> Edges:
    return edges([(i, (i + 1) % n) for i in range(n)], n)


def grid(rows: int, columns: int) -> Edges:
    across = [
        (i * columns + j, i * columns + j + 1) for i in range(rows) for j in range(columns - 1)
    ]
    down = [
        (i * columns + j, (i + 1) * columns + j) for i in range(rows - 1) for j in range(columns)
    ]
    return edges(across + down, rows * columns)


def ring(n: int, reach: int) -> Edges:
    return edges([(i, (i + d) % n) for i in range(n) for d in range(1, reach + 1)], n)


def bipartite(left: int, right: int) -> Edges:
    return edges([(i, left + j) for i in range(left) for j in range(right)], left + right)


def cube(dimension: int) -> Edges:
    n = 1 << dimension
    flips = [1 << d for d in range(dimension)]
    return edges([(v, v ^ f) for v in range(n) for f in flips if v < v ^ f], n)


def copies(part: Edges, count: int) -> Edges:
    index, n = part
    return torch.cat([index + i * n for i in range(count)], 1), n * count


FAMILIES: dict[str, Edges] = {
    **{f"path {n}": path(n) for n in (2, 3, 13, 19, 29, 47, 55, 64, 90, 100)},
    **{f"cycle {n}": cycle(n) for n in (5, 8, 21, 50, 100)},
    **{f"grid {a} x {b}": grid(a, b) for a, b in ((2, 9), (3, 3), (7, 11), (12, 12))},
    **{f"ring {n}, {k}": ring(n, k) for n, k in ((16, 3), (48, 2))},
    **{f"bipartite {a}, {b}": bipartite(a, b) for a, b in ((1, 20), (8, 8), (5, 13))},
    **{f"cube {d}": cube(d) for d in (3, 6)},
    "7 paths of 30": copies(path(30), 7),
    "3 cycles of 21": copies(cycle(21), 3),
}


def clustered(
    graph: Edges, engine: str, inflation: float = 2, **rest: bool
) -> torchcent.Clustering:
    return call(
        torchcent.mcl,
        graph[0].to(DEVICE),
        num_nodes=graph[1],
        directed=False,
        inflation=inflation,
        max_iter=70,
        engine=engine,
        **rest,
    )


def flow(found: torchcent.Clustering) -> Tensor:
    assert found.flow is not None
    return found.flow.to_dense().cpu()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n", [8, 21, 50, 100])
def test_a_cycle_has_no_vertex_like_no_other(n: int, engine: str) -> None:
    """mcl 22-282 makes as many clusters at its defaults."""
    assert clustered(cycle(n), engine).num_clusters == n


@pytest.mark.sweep
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", FAMILIES)
def test_turned_round_a_graph_has_the_same_flow(name: str, engine: str) -> None:
    """Vertices numbered from the other end: sums have their terms in another order."""
    index, n = FAMILIES[name]
    found = flow(clustered((index, n), engine, return_flow=True))
    again = flow(clustered((n - 1 - index, n), engine, return_flow=True))
    assert torch.equal(again.flip(0, 1), found)


@pytest.mark.sweep
@pytest.mark.skipif(len(EXACT) < 2, reason="there is no compiled operator")
@pytest.mark.parametrize("name", FAMILIES)
def test_flows_of_engines_are_equal(name: str) -> None:
    first, second = (clustered(FAMILIES[name], engine, return_flow=True) for engine in EXACT)
    assert torch.equal(first.labels, second.labels)
    assert torch.equal(flow(first), flow(second))


@pytest.mark.sweep
@pytest.mark.parametrize("inflation", [1.4, 3.0])
@pytest.mark.parametrize("name", FAMILIES)
def test_clusters_of_engines_are_equal(name: str, inflation: float) -> None:
    found = [clustered(FAMILIES[name], engine, inflation).labels for engine in EXACT]
    assert all(torch.equal(labels, found[0]) for labels in found)


def test_parts_alike_are_clustered_alike() -> None:
    for engine in EXACT:
        labels = clustered(copies(path(30), 7), engine).labels.view(7, 30)
        kinds = [torch.unique_consecutive(part, return_inverse=True)[1] for part in labels]
        assert all(torch.equal(kind, kinds[0]) for kind in kinds)


@pytest.mark.skipif(len(EXACT) < 2, reason="there is no compiled operator")
def test_a_large_cycle() -> None:
    """Of its columns all are short."""
    assert clustered(cycle(3000), "auto").num_clusters == 3000


def digest() -> str:
    found = hashlib.sha256()
    for graph in FAMILIES.values():
        found.update(flow(clustered(graph, "fused", return_flow=True)).numpy().tobytes())
    return found.hexdigest()


CODE = """
import sys; sys.path.insert(0, {folder!r})
from test_mcl_ties import digest
print(digest())
"""


@pytest.mark.slow
@pytest.mark.skipif(
    os.uname().machine != "x86_64" or DEVICE.type != "cpu" or len(EXACT) < 2,
    reason="instruction sets of x86-64",
)
def test_every_instruction_set_has_the_same_bits() -> None:
    found = {f"{digest()}\n"}
    levels = ["portable", "avx2", "avx512"]
    del levels[torch.ops.torchcent.simd()]  # is that of this process
    for level in levels:
        code = CODE.format(folder=os.path.dirname(__file__))
        done = subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "TORCHCENT_SIMD": level},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        found.add(done.stdout)
    assert len(found) == 1


@pytest.mark.parametrize("engine", [*EXACT, "auto"])
@pytest.mark.parametrize("n, reach", [(20, 2), (30, 3), (50, 2)])
def test_a_flow_at_rest_ends_the_run(engine, n, reach):
    found = clustered(ring(n, reach), engine)
    assert found.num_clusters == n  # the clusters that the program mcl finds
    assert found.converged and found.iterations < 40
    assert found.chaos_history[-1] == found.chaos_history[-2] > 1e-4


def test_a_flow_at_rest_in_a_batch():
    parts = [ring(20, 2), path(5), ring(30, 3)]
    first = [0, 20, 25, 55]
    index = torch.cat([part[0] + begin for part, begin in zip(parts, first, strict=False)], 1)
    ptr = torch.tensor(first, device=DEVICE)
    found = call(torchcent.mcl, index.to(DEVICE), ptr=ptr, directed=False)
    assert found.converged and found.iterations < 40
    alone = [clustered(part, "auto").labels for part in parts]
    count = found.cluster_ptr
    assert count is not None
    for number, labels in enumerate(alone):
        own = found.labels[first[number] : first[number + 1]] - count[number]
        assert torch.equal(own, labels)
