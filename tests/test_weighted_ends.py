"""Weights of sources and targets, which are floats in every engine: against the definition."""

import random
from fractions import Fraction

import path_oracles
import pytest
import torch
from engines import ENGINES, WEIGHTED, assert_scores
from graphs import DEVICE, complete, edge_index, grid, path, random_graph, star
from internals import Request, has_kernel, part_of_batch, path_sums

from torchcent import Graph

F64 = torch.float64
# Below, at and above 32 vertices the tiny engine has other kernels; some are not connected.
SHAPES = {
    "leaves": (9, [*path(6), (2, 6), (2, 7)]),
    "parallel paths": (12, grid(3, 4)),
    "two parts": (14, random_graph(14, 16, seed=3)),
    "star": (8, star(7)),
    "complete": (6, complete(6)),
    "33": (33, random_graph(33, 60, seed=5)),
    "70": (70, random_graph(70, 150, seed=6)),
}


def ends(n: int, seed: int) -> tuple[list[float], list[float]]:
    """Sixteenths, which floats and fractions hold alike; a third of them 0."""
    draw = random.Random(seed)
    return tuple([draw.choice((0, 1)) and draw.randrange(40) / 16 for _ in range(n)] for _ in "ab")


def definition(
    measure: str, n: int, lengths: dict, a: list[float], b: list[float], endpoints: bool
) -> tuple[list[Fraction], dict[tuple[int, int], Fraction]]:
    """Per vertex and per arc: the sum over s and t of a_s b_t times the share of paths, of stress
    their number."""
    vertex, arc = [Fraction(0)] * n, dict.fromkeys(lengths, Fraction(0))
    for s in range(n):
        found = path_oracles.search(n, lengths, s)
        for t in range(n):
            if s == t or found.distance[t] is None or not (a[s] and b[t]):
                continue
            every = path_oracles.paths(found, s, t)
            each = Fraction(a[s]) * Fraction(b[t])
            each = each if measure == "stress" else each / len(every)
            for steps in every:
                for v in steps if endpoints else steps[1:-1]:
                    vertex[v] += each
                for pair in zip(steps, steps[1:], strict=False):
                    arc[pair] += each
    return vertex, arc


def sums(graph: Graph, measure: str, engine: str, a, b, endpoints: bool) -> torch.Tensor:
    request = Request(
        measure, engine, sources=torch.tensor(a, dtype=F64, device=DEVICE),
        targets=torch.tensor(b, dtype=F64, device=DEVICE), endpoints=endpoints, progress=False,
    )  # fmt: skip
    return path_sums(graph, request)


CASES = [("betweenness", False), ("betweenness", True), ("edge_betweenness", False),
         ("stress", False)]  # fmt: skip


@pytest.mark.sweep(by="shape engine measure directed")
@pytest.mark.parametrize("measure, endpoints", CASES)
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("engine", [*ENGINES, *(f"{name} by weights" for name in WEIGHTED)])
@pytest.mark.parametrize("shape", SHAPES)
def test_against_the_definition(shape, engine, directed, measure, endpoints):
    engine, _, weighted = engine.partition(" ")
    operator = {"tensor": "", "auto": ""}.get(engine, "tiny" if engine == "tiny" else "depths")
    if operator and not has_kernel(operator, DEVICE):
        pytest.skip(f"engine={engine!r} has no kernels for {DEVICE}")
    n, arcs = SHAPES[shape]
    draw = random.Random(n)
    weights = [draw.randint(1, 3) for _ in arcs] if weighted else [1] * len(arcs)
    graph = Graph.from_edge_index(
        edge_index(arcs), n, directed,
        torch.tensor(weights, dtype=F64, device=DEVICE) if weighted else None,
    )  # fmt: skip
    a, b = ends(n, seed=n + directed)
    lengths = path_oracles.lengths(n, arcs, weights, directed)
    vertex, arc = definition(measure, n, lengths, a, b, endpoints)
    actual = sums(graph, measure, engine, a, b, endpoints).cpu()
    row = torch.repeat_interleave(torch.arange(n), graph.rowptr.cpu().diff()).tolist()
    expected = vertex
    if measure == "edge_betweenness":
        expected = [arc[pair] for pair in zip(row, graph.col.tolist(), strict=True)]
    assert_scores(actual, expected, engine)


@pytest.mark.parametrize("measure, endpoints", CASES)
def test_graphs_of_a_batch_have_their_own(measure, endpoints):
    """Small ones together, one that the tiny engine does not take, one whose weights are all 0."""
    parts = [*SHAPES.values(), (600, random_graph(600, 4000, seed=9)), (3, path(3))]
    index, ptr, a, b = [], [0], [], []
    for n, arcs in parts:
        index += [(u + ptr[-1], v + ptr[-1]) for u, v in arcs]
        begins, stops = ends(n, seed=ptr[-1])
        a, b = a + (begins if n > 3 else [0.0] * n), b + stops
        ptr.append(ptr[-1] + n)
    union = Graph.from_edge_index(edge_index(index), None, False, ptr=torch.tensor(ptr).to(DEVICE))
    together = sums(union, measure, "auto", a, b, endpoints)
    for number in range(len(parts)):
        vertices = slice(ptr[number], ptr[number + 1])
        slots = slice(int(union.rowptr[vertices.start]), int(union.rowptr[vertices.stop]))
        one = sums(
            part_of_batch(union, number), measure, "tensor", a[vertices], b[vertices], endpoints
        )
        part = slots if measure == "edge_betweenness" else vertices
        torch.testing.assert_close(together[part], one, rtol=1e-5, atol=1e-9)
    assert not together[vertices if measure != "edge_betweenness" else slots].any()
