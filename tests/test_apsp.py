"""shortest_path_lengths: values, all kinds of output, dtypes, arguments."""

import os
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse.csgraph
import torch
from graphs import (
    ASSORTED,
    DEVICE,
    LEAFY,
    arc_lists,
    edge_index,
    grid,
    networkx_graph,
    path,
    random_graph,
    star,
    subsets,
    union,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import Blocks, HostRows, has_kernel, streamed
from oracles import Arcs, both_ways, shortest_paths
from surface import call

from torchcent import Graph, Run, shortest_path_lengths

pytestmark = pytest.mark.sweep

ENGINES = ["tensor", "bits"] if has_kernel("distances", DEVICE) else ["tensor"]
ENGINES += ["queue"] if DEVICE.type == "cuda" else []
ENGINES += ["hierarchy"] if has_kernel("hierarchy_distances", DEVICE) else []
engines = pytest.mark.parametrize("engine", ENGINES)
# A double sweep from the hub knows nothing of the path: 139 does not fit the dtype it begins with.
N_DEEP, DEEP = union((20, star(19)), (140, path(140)))


def expected(n: int, arcs: Arcs, directed: bool = True) -> list[list[int]]:
    distances, _ = shortest_paths(n, arcs if directed else both_ways(arcs))
    return [[-1 if d is None else d for d in row] for row in distances]


def rows(n: int, arcs: Arcs, directed: bool = True, **options: object) -> list[list[int]]:
    result = call(
        shortest_path_lengths, edge_index(arcs), num_nodes=n, directed=directed, **options
    )
    assert isinstance(result, torch.Tensor) and result.device == DEVICE
    return result.tolist()


# --- values


@engines
@given(graph=arc_lists(), directed=st.booleans(), data=st.data())
@settings(max_examples=150)
def test_against_the_definition(engine, graph, directed, data):
    n, arcs = graph
    truth = expected(n, arcs, directed)
    assert rows(n, arcs, directed, engine=engine) == truth
    if n:
        sources = data.draw(subsets(n))
        size = data.draw(st.integers(1, n))
        some = rows(
            n, arcs, directed, engine=engine, sources=torch.tensor(sources), block_size=size
        )
        assert some == [truth[s] for s in sources]


@engines
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", list(ASSORTED))
def test_networkx(engine, directed, name):
    n, arcs = ASSORTED[name]
    found = dict(nx.all_pairs_shortest_path_length(networkx_graph(n, arcs, directed)))
    truth = [[found[u].get(v, -1) for v in range(n)] for u in range(n)]
    assert rows(n, arcs, directed, engine=engine) == truth


def scipy_distances(graph: Graph, sources: torch.Tensor | None = None) -> np.ndarray:
    found = scipy.sparse.csgraph.shortest_path(
        graph.to_scipy(), unweighted=True, indices=None if sources is None else sources.numpy()
    )
    return np.where(np.isinf(found), -1, found)


@pytest.mark.each
@engines
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(
    "n, arcs",
    [(1500, random_graph(1500, 3000, seed=1)), (1210, grid(11, 110)), (700, star(699))],
    ids=["random", "grid", "star"],
)
def test_scipy(engine, directed, n, arcs):
    """Several batches of lanes, the last one not full."""
    graph = Graph.from_edge_index(edge_index(arcs), n, directed)
    found = shortest_path_lengths(graph, run=Run(engine=engine))
    assert np.array_equal(found.cpu().numpy(), scipy_distances(graph))


@engines
@pytest.mark.parametrize("name", list(LEAFY))
def test_trees_and_leaves(engine, name):
    n, arcs = LEAFY[name]
    assert rows(n, arcs, False, engine=engine) == expected(n, arcs, False)


@engines
def test_no_vertices_and_one(engine, tmp_path):
    for n in (0, 1):
        assert rows(n, [], engine=engine) == [[0]][:n]
        mapped = shortest_path_lengths(edge_index([]), num_nodes=n, out=tmp_path / f"{n}.npy")
        assert mapped.shape == (n, n) and mapped.dtype == np.int8
        handed = list(shortest_path_lengths(edge_index([]), num_nodes=n, blocks=True))
        assert [block.tolist() for _, block in handed] == [[[0]]][:n]


@engines
def test_a_depth_that_just_fits(engine):
    """Of a path of 127 arcs beside vertices that nothing leads to."""
    found = shortest_path_lengths(
        edge_index(path(128)), num_nodes=131, directed=False, run=Run(engine=engine)
    )
    assert found.dtype == torch.int8 and found.max() == 127
    assert found[0].tolist() == [*range(128), -1, -1, -1]


@engines
def test_threads_and_blocks_change_nothing(engine, threads):
    n, arcs = 1100, random_graph(1100, 2500, seed=2)
    graph = Graph.from_edge_index(edge_index(arcs), n)
    torch.set_num_threads(1)
    alone = shortest_path_lengths(graph, run=Run(engine=engine))
    torch.set_num_threads(3)
    for size in (None, 100, 513):
        assert torch.equal(
            shortest_path_lengths(graph, run=Run(engine=engine), block_size=size), alone
        )


# --- where the rows go


@engines
@pytest.mark.parametrize("size", [None, 1, 7, 1000])
@pytest.mark.parametrize("sources", [None, [30, 2, 141, 7, 8, 100, 0, 59, 60]], ids=["all", "some"])
def test_outputs_agree(engine, size, sources, tmp_path):
    n, arcs = ASSORTED["more than one batch"]
    graph = Graph.from_edge_index(edge_index(arcs), n, directed=False)
    chosen = None if sources is None else torch.tensor(sources)
    options = {"engine": engine, "block_size": size, "sources": chosen}
    whole = call(shortest_path_lengths, graph, **options)
    order = list(range(n)) if sources is None else sources
    assert whole.tolist() == torch.tensor(expected(n, arcs, False))[order].tolist()

    for device in {DEVICE, torch.device("cpu")}:
        given_ = torch.full(whole.shape, 99, dtype=torch.int16, device=device)
        assert call(shortest_path_lengths, graph, out=given_, **options) is given_
        assert given_.tolist() == whole.tolist()

    mapped = call(shortest_path_lengths, graph, out=tmp_path / "d.npy", **options)
    assert isinstance(mapped, np.memmap) and not mapped.flags.writeable
    assert mapped.tolist() == whole.tolist() and mapped.dtype == np.int8
    assert np.array_equal(np.load(tmp_path / "d.npy"), mapped)
    assert [file.name for file in tmp_path.iterdir()] == ["d.npy"]

    handed = list(call(shortest_path_lengths, graph, blocks=True, **options))
    assert torch.cat([part for part, _ in handed]).tolist() == order
    assert torch.equal(torch.cat([block for _, block in handed]), whole)
    if size is not None:
        assert all(part.numel() == min(size, len(order)) for part, _ in handed[:-1])


def test_a_pinned_tensor():
    if DEVICE.type != "cuda":
        pytest.skip("no CUDA device")
    n, arcs = ASSORTED["more than one batch"]
    out = torch.empty(n, n, dtype=torch.int32, pin_memory=True)
    shortest_path_lengths(edge_index(arcs), num_nodes=n, out=out, block_size=7)
    assert out.tolist() == expected(n, arcs)


def test_rows_on_their_way_to_the_host():
    """What a graph on an accelerator does with a tensor on the host."""
    n, arcs = ASSORTED["dense"]
    graph = Graph.from_edge_index(edge_index(arcs), n)
    out = torch.empty(n, n, dtype=torch.int8)
    sources = torch.arange(n, device=DEVICE)
    run = Blocks(graph, sources, "tensor", True, out.dtype, True, False, 2, 7, None)
    with run.bar(None) as bar:
        streamed(run, HostRows(out), bar)
    assert out.tolist() == expected(n, arcs)


# --- dtypes


@engines
@pytest.mark.parametrize("depth, dtype", [(127, torch.int8), (128, torch.int16)])
def test_the_narrowest_dtype(engine, depth, dtype):
    result = shortest_path_lengths(
        edge_index(path(depth + 1)), directed=False, run=Run(engine=engine)
    )
    assert result.dtype == dtype
    assert result[0].tolist() == list(range(depth + 1))


@engines
@pytest.mark.parametrize("size", [None, 15])
@pytest.mark.parametrize("reverse", [False, True])
def test_rows_are_widened(engine, size, reverse, tmp_path):
    """With blocks of 15 the first ones are done, and written, when a distance does not fit."""
    order = torch.arange(N_DEEP)
    order = order.flip(0) if reverse else order
    truth = torch.tensor(expected(N_DEEP, DEEP, False))[order].tolist()
    graph = Graph.from_edge_index(edge_index(DEEP), N_DEEP, directed=False)
    options = {"sources": order if reverse else None, "engine": engine, "block_size": size}
    result = call(shortest_path_lengths, graph, **options)
    assert result.dtype == torch.int16 and result.tolist() == truth
    mapped = call(shortest_path_lengths, graph, out=str(tmp_path / "d.npy"), **options)
    assert mapped.dtype == np.int16 and mapped.tolist() == truth
    handed = [block for _, block in call(shortest_path_lengths, graph, blocks=True, **options)]
    assert torch.cat(handed).tolist() == truth
    assert handed[-1].dtype == torch.int16


class NoBlocks:
    """What os.stat returns on Windows."""

    def __init__(self, status):
        self._status = status

    def __getattr__(self, name):
        if name == "st_blocks":
            raise AttributeError(name)
        return getattr(self._status, name)


def test_rows_are_widened_on_windows(monkeypatch, tmp_path):
    stat, asked = os.stat, []

    def without_blocks(path, *rest, **options):
        asked.append(str(path))
        return NoBlocks(stat(path, *rest, **options))

    monkeypatch.setattr(os, "stat", without_blocks)
    graph = Graph.from_edge_index(edge_index(DEEP), N_DEEP, directed=False)
    mapped = shortest_path_lengths(graph, out=tmp_path / "d.npy", block_size=15)
    assert mapped.dtype == np.int16 and mapped.tolist() == expected(N_DEEP, DEEP, False)
    assert any(name.endswith(".tmp") for name in asked)  # the file, before it is renamed


@pytest.mark.skipif("bits" not in ENGINES, reason="32,768 levels, with Python in each")
def test_rows_are_widened_twice(tmp_path):
    long = 2**15 + 1
    n, arcs = union((3, star(2)), (long, path(long)))
    graph = Graph.from_edge_index(edge_index(arcs), n, directed=False)
    sources = torch.tensor([1, 3, 2])
    result = shortest_path_lengths(graph, sources=sources, block_size=1)
    assert result.dtype == torch.int32
    assert result[:, :3].tolist() == [[1, 0, 2], [-1, -1, -1], [1, 2, 0]]
    assert result[1, 3:].tolist() == list(range(long))
    mapped = shortest_path_lengths(
        graph, sources=sources, out=tmp_path / "d.npy", block_size=1, run=Run(engine="bits")
    )
    assert np.array_equal(mapped, result.cpu().numpy()) and mapped.dtype == np.int32


@engines
@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32])
def test_a_dtype_that_is_asked_for(engine, dtype, tmp_path):
    n, arcs = ASSORTED["grid"]
    for result in (
        shortest_path_lengths(edge_index(arcs), dtype=dtype, run=Run(engine=engine)),
        torch.from_numpy(
            np.array(shortest_path_lengths(edge_index(arcs), dtype=dtype, out=tmp_path / "d.npy"))
        ),
    ):
        assert result.dtype == dtype
        assert result.tolist() == expected(n, arcs)


@engines
def test_a_dtype_that_is_too_narrow(engine, tmp_path):
    graph = Graph.from_edge_index(edge_index(DEEP), N_DEEP, directed=False)
    said = r"distance of \d+ from vertex \d+.*torch.int8.*127.*torch.int16"
    with pytest.raises(OverflowError, match=said):
        shortest_path_lengths(graph, dtype=torch.int8, run=Run(engine=engine))
    with pytest.raises(OverflowError, match=said):
        out = torch.empty(N_DEEP, N_DEEP, dtype=torch.int8, device=DEVICE)
        shortest_path_lengths(graph, out=out, run=Run(engine=engine))
    with pytest.raises(OverflowError, match=said):
        shortest_path_lengths(
            graph, dtype=torch.int8, out=tmp_path / "d.npy", run=Run(engine=engine)
        )
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OverflowError, match=said):
        for _ in shortest_path_lengths(
            graph, dtype=torch.int8, blocks=True, run=Run(engine=engine)
        ):
            pass
    # Rows that fit are no error, whatever the rest of the graph is like.
    near = torch.arange(20)
    some = shortest_path_lengths(graph, sources=near, dtype=torch.int8, run=Run(engine=engine))
    assert some.tolist() == expected(N_DEEP, DEEP, False)[:20]


# --- arguments

ARCS = edge_index([(0, 1), (1, 2), (2, 3)])


@pytest.mark.each
@pytest.mark.parametrize(
    "options, error, said",
    [
        ({"sources": 2}, TypeError, "sources.*tensor.*2.*tensor of one"),
        ({"sources": torch.tensor([0, 4])}, ValueError, r"sources.*4.*\[0, 4\)"),
        ({"sources": torch.tensor([1, 1])}, ValueError, "sources.*1 more than once"),
        ({"sources": torch.tensor([], dtype=torch.int64)}, ValueError, "sources.*empty"),
        ({"dtype": torch.int64}, TypeError, "dtype.*int8.*int64"),
        ({"dtype": torch.float32}, TypeError, "dtype.*float32"),
        ({"dtype": "int8"}, TypeError, "dtype.*'int8'"),
        ({"out": 3}, TypeError, "out.*int"),
        ({"out": "d.txt"}, ValueError, r"out.*\.npy.*d\.txt"),
        ({"out": "nowhere/d.npy"}, FileNotFoundError, "out.*nowhere"),
        ({"out": torch.zeros(4, 4)}, TypeError, "out.*float32"),
        ({"out": torch.zeros(4, 4, dtype=torch.int64)}, TypeError, "out.*int64"),
        ({"out": torch.zeros(3, 4, dtype=torch.int8)}, ValueError, r"out.*\[4, 4\].*\[3, 4\]"),
        ({"out": torch.zeros(4, 8, dtype=torch.int8)[:, ::2]}, ValueError, "out.*contiguous"),
        (
            {"out": torch.zeros(4, 4, dtype=torch.int8, device="meta")},
            ValueError,
            "out.*meta",
        ),
        (
            {"out": torch.zeros(4, 4, dtype=torch.int8), "dtype": torch.int16},
            ValueError,
            "dtype=torch.int16.*out.*int8",
        ),
        ({"blocks": 1}, TypeError, "blocks.*True or False"),
        ({"blocks": True, "out": "d.npy"}, ValueError, "blocks=True.*out"),
        ({"block_size": 0}, ValueError, "block_size.*0"),
        ({"block_size": 2.0}, TypeError, r"block_size.*2\.0"),
        ({"block_size": True}, TypeError, "block_size.*True"),
        ({"engine": "lanes"}, ValueError, "engine.*auto, bits, queue, hierarchy, tensor.*lanes"),
        ({"memory": -1}, ValueError, "memory.*-1"),
        ({"progress": 1}, TypeError, "progress"),
    ],
)
def test_bad_arguments(options, error, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=f"(?s){said}"):
        call(shortest_path_lengths, ARCS, **options)
    assert list(Path().iterdir()) == []


def test_a_directory_is_not_a_file(tmp_path):
    (tmp_path / "d.npy").mkdir()
    with pytest.raises(ValueError, match=r"out=.*d\.npy.*not a file"):
        shortest_path_lengths(ARCS, out=tmp_path / "d.npy")


def test_bits_where_it_is_not_compiled(tuning):
    tuning(compiled=False)
    with pytest.raises(ValueError, match="engine='bits'.*tensor"):
        shortest_path_lengths(ARCS, run=Run(engine="bits"))
    assert rows(4, path(4)) == expected(4, path(4))


@engines
def test_progress(engine, capsys):
    shortest_path_lengths(ARCS, run=Run(engine=engine, progress=True))
    assert "shortest_path_lengths: 100%" in capsys.readouterr().err
    shortest_path_lengths(ARCS, run=Run(engine=engine, progress=False))
    assert capsys.readouterr().err == ""
