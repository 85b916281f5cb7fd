"""The text of the tiny engine's CUDA kernel, run on the CPU with a thread for a thread: against the
CPU's kernels, which test_tiny.py compares with oracles."""

import subprocess
from pathlib import Path

import pytest
import torch
from graphs import complete, cycle, grid, path, random_graph, star, tower
from internals import run_tiny
from kernel_text import NEEDS_SOURCES, SOURCES
from oracles import Arcs

from torchcent import Graph

pytestmark = NEEDS_SOURCES

PARTS: list[tuple[int, Arcs]] = [
    (0, []), (1, []), (2, path(2)), (5, [(0, 1), (1, 2), (2, 0)]), (7, star(6)), (32, grid(4, 8)),
    (33, random_graph(33, 80, seed=1)), (64, cycle(64)), (40, random_graph(40, 400, seed=2)),
    (70, random_graph(70, 200, seed=3)), (13, complete(13)), (30, tower(6, 5)), (3, []),
]  # fmt: skip


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tiny") / "tiny_text"
    source = Path(__file__).with_name("tiny_text.cpp")
    flags = [
        "-O1",
        "-std=c++20",
        "-pthread",
        "-include",
        "algorithm",
        f"-I{SOURCES}",
        f"-I{SOURCES}/include",
    ]
    subprocess.run(["g++", *flags, "-o", str(made), str(source)], check=True)
    return made


def union(parts: list[tuple[int, Arcs]], directed: bool, weighted: bool) -> Graph:
    ptr, arcs = [0], []
    for n, own in parts:
        arcs += [(ptr[-1] + u, ptr[-1] + v) for u, v in own]
        ptr.append(ptr[-1] + n)
    index = torch.tensor(arcs, dtype=torch.int64).reshape(-1, 2).T
    weight = 1 + torch.arange(index.shape[1]) % 4 if weighted else None
    return Graph.from_edge_index(index, None, directed, weight, ptr=torch.tensor(ptr))


def output(program: Path, graph: Graph, *arguments: object, chosen: torch.Tensor) -> list:
    weight = graph.weight if graph.is_weighted else torch.ones(graph.num_slots)
    assert graph.ptr is not None and weight is not None
    lines = [
        [graph.num_graphs], graph.ptr.tolist(), [graph.num_slots], graph.rowptr.tolist(),
        graph.col.tolist(), weight.tolist(), chosen.tolist(), chosen.flip(0).tolist(),
    ]  # fmt: skip
    text = "\n".join(" ".join(map(str, line)) for line in lines)
    command = [str(program), *(str(int(x) if isinstance(x, bool) else x) for x in arguments)]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    rows = [list(map(float, line.split())) for line in run.stdout.splitlines()]
    return [torch.tensor(row, dtype=torch.float64) for row in rows]


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize(
    ("weighted", "endpoints", "tolerance", "warps", "blocks", "shared", "every"),
    [
        (False, False, 0.0, 1, 3, 1, 1),
        (False, True, 0.0, 2, 1, 1, 2),
        (False, False, 0.0, 3, 2, 0, 1),
        (True, False, 0.0, 1, 2, 1, 1),
        (True, True, 0.0, 2, 1, 0, 3),
        (True, False, 0.3, 2, 2, 1, 1),
    ],
)
def test_same_as_on_the_cpu(
    program, directed, weighted, endpoints, tolerance, warps, blocks, shared, every
):
    graph = union(PARTS, directed, weighted).with_ties(tie_tolerance=tolerance)
    chosen = (torch.arange(graph.num_nodes) % every == 0).double()
    betweenness, stress, edges, distances, levels, overflow = output(
        program, graph, weighted, endpoints, tolerance, warps, blocks, shared, chosen=chosen
    )
    numbers = torch.arange(graph.num_graphs).numpy()
    outputs = ["betweenness", "stress", "edge_betweenness", "distances"]
    found = run_tiny(
        graph, numbers, outputs + ["levels"] * (not weighted), "",
        sources=torch.nonzero(chosen).flatten(), targets=torch.nonzero(chosen.flip(0)).flatten(),
        endpoints=endpoints,
    )  # fmt: skip
    close = {"rtol": 1e-12, "atol": 1e-12}
    torch.testing.assert_close(betweenness, found.betweenness, **close)
    torch.testing.assert_close(stress, found.stress, **close)
    torch.testing.assert_close(edges, found.edge_betweenness, **close)
    torch.testing.assert_close(distances.reshape(-1, 6), found.distances, **close)
    if not weighted:
        assert torch.equal(levels.long(), found.levels)
    assert not overflow.any()
    assert betweenness.any() and stress.any() and edges.any()
