"""transitive_closure, Closure and reachable."""

import dataclasses

import networkx as nx
import numpy as np
import pytest
import torch
from graphs import (
    ASSORTED,
    DEVICE,
    arc_lists,
    complete,
    cycle,
    edge_index,
    networkx_graph,
    path,
    random_graph,
    star,
    subsets,
    union,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import COMPILED
from oracles import Arcs, both_ways, shortest_paths
from surface import call

from torchcent import Closure, Graph, Run, reachable, transitive_closure

pytestmark = pytest.mark.sweep

REFLEXIVE = [False, None, True]


@pytest.fixture(params=["compiled", "NumPy"])
def way(request, tuning):
    """With the compiled operator, and without the extension."""
    if request.param == "NumPy":
        tuning(compiled=False)
    elif not COMPILED:
        pytest.skip("there is no compiled extension")


def networkx_pairs(n: int, arcs: Arcs, directed: bool, reflexive: bool | None) -> np.ndarray:
    """bool [n, n], of the graph without self-loops, which torchcent drops."""
    graph = networkx_graph(n, [(u, v) for u, v in arcs if u != v], directed)
    closed = nx.transitive_closure(graph, reflexive=reflexive)
    return nx.to_numpy_array(closed, nodelist=range(n), dtype=bool) if n else np.zeros((0, 0), bool)


def assert_is(closed: Closure, truth: np.ndarray) -> None:
    """Everything that a Closure tells."""
    n = len(truth)
    everything = torch.arange(n, device=DEVICE)
    assert np.array_equal(closed.to_dense().cpu().numpy(), truth)
    found = closed.reaches(everything[:, None], everything[None, :])
    assert isinstance(found, torch.Tensor) and np.array_equal(found.cpu().numpy(), truth)
    assert closed.count() == truth.sum()
    assert [closed.row(u).tolist() for u in range(n)] == [np.flatnonzero(r).tolist() for r in truth]


# --- values


@pytest.mark.parametrize("reflexive", REFLEXIVE)
@given(graph=arc_lists(), directed=st.booleans())
@settings(max_examples=150)
def test_networkx(way, reflexive, graph, directed):
    n, arcs = graph
    closed = transitive_closure(
        edge_index(arcs), num_nodes=n, directed=directed, reflexive=reflexive
    )
    truth = networkx_pairs(n, arcs, directed, reflexive)
    assert_is(closed, truth)
    for u in range(n):
        for v in range(n):
            assert closed.reaches(u, v) is bool(truth[u, v])


@pytest.mark.parametrize("name", list(ASSORTED))
@pytest.mark.parametrize("directed", [True, False])
def test_assorted(way, name, directed):
    n, arcs = ASSORTED[name]
    closed = transitive_closure(edge_index(arcs), num_nodes=n, directed=directed)
    assert_is(closed, networkx_pairs(n, arcs, directed, False))


def closed_by_squaring(n: int, arcs: Arcs) -> np.ndarray:
    """Paths of at least one arc."""
    step = np.zeros((n, n), dtype=np.float32)
    step[tuple(np.array(arcs).T)] = 1
    while True:
        longer = np.minimum(step + step @ step, 1)
        if np.array_equal(longer, step):
            return step.astype(bool)
        step = longer


def layered(n: int, arcs: int, seed: int) -> Arcs:
    """An acyclic graph, its vertices numbered at random."""
    label = np.random.default_rng(seed).permutation(n).tolist()
    return [(label[max(a)], label[min(a)]) for a in random_graph(n, arcs, seed) if a[0] != a[1]]


LARGE = {
    "acyclic": (1700, layered(1700, 5000, seed=1)),
    # Components of 3 vertices between others of one.
    "with cycles": (
        1600,
        layered(1300, 3000, seed=2)
        + [(3 * i + j, 3 * i + (j + 1) % 3) for i in range(100) for j in range(3)]
        + [(1300 + i, i) for i in range(300)],
    ),
    "path": (1100, path(1100)),
    "one component": (600, cycle(600)),
    "random": (1500, random_graph(1500, 1900, seed=3)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(LARGE))
def test_several_blocks(way, name, threads):
    n, arcs = LARGE[name]
    arcs = [(u, v) for u, v in arcs if u != v]
    truth = closed_by_squaring(n, arcs)
    for number in (1, 3):
        torch.set_num_threads(number)
        closed = transitive_closure(edge_index(arcs), num_nodes=n)
        assert np.array_equal(closed.to_dense().cpu().numpy(), truth)
        assert closed.count() == truth.sum()
    generator = np.random.default_rng(0)
    u, v = (torch.from_numpy(generator.integers(0, n, 5000)) for _ in range(2))
    found = closed.reaches(u.to(DEVICE), v.to(DEVICE))
    assert np.array_equal(found.cpu().numpy(), truth[u, v])
    for vertex in (0, n // 2, n - 1):
        assert closed.row(vertex).tolist() == np.flatnonzero(truth[vertex]).tolist()


def test_a_long_run_shows_progress_and_gives_the_same(tuning, capsys):
    if not COMPILED:
        pytest.skip("there is no compiled extension")
    n, arcs = LARGE["acyclic"]
    quick = transitive_closure(edge_index(arcs), num_nodes=n)
    tuning(inline=0)
    watched = transitive_closure(edge_index(arcs), num_nodes=n, run=Run(progress=True))
    assert torch.equal(watched.to_dense(), quick.to_dense())
    assert "transitive_closure: 100%" in capsys.readouterr().err


# --- self-loops and reflexive, spelled out


@pytest.mark.parametrize("reflexive, loops", [(False, []), (None, []), (True, [0, 1, 2])])
def test_a_path_has_no_cycle(reflexive, loops):
    closed = transitive_closure(edge_index(path(3)), reflexive=reflexive)
    assert [v for v in range(3) if closed.reaches(v, v)] == loops
    assert closed.count() == 3 + len(loops)


@pytest.mark.parametrize("reflexive, loops", [(False, [0, 1]), (None, []), (True, [0, 1, 2])])
def test_a_cycle_of_two(reflexive, loops):
    closed = transitive_closure(edge_index([(0, 1), (1, 0), (1, 2)]), reflexive=reflexive)
    assert [v for v in range(3) if closed.reaches(v, v)] == loops


@pytest.mark.parametrize("arcs", [path(3), complete(3)])
def test_an_undirected_edge_is_no_cycle(arcs):
    """Nor is an undirected triangle, to NetworkX."""
    assert not transitive_closure(edge_index(arcs), directed=False).reaches(1, 1)
    assert transitive_closure(edge_index(both_ways(arcs))).reaches(1, 1)


def test_a_self_loop_is_dropped():
    """The one difference from NetworkX."""
    closed = transitive_closure(edge_index([(0, 0), (0, 1)]))
    assert closed.to_dense().tolist() == [[False, True], [False, False]]
    graph = nx.DiGraph([(0, 0), (0, 1)])
    assert nx.transitive_closure(graph).has_edge(0, 0)


# --- what it takes


@pytest.mark.skipif(not COMPILED, reason="without the compiled extension it is a square")
def test_the_bits_are_a_triangle():
    n = 4096
    closed = transitive_closure(edge_index(path(n)))
    assert closed.count() == n * (n - 1) // 2
    assert n * n / 16 < closed.nbytes < 1.3 * n * n / 16 + 16 * n


@pytest.mark.parametrize(
    "n, arcs, directed",
    [
        (3000, path(3000), False),
        (3000, cycle(3000), True),
        (3000, [], True),
        (3000, star(2999), True),
        (3000, [(v, 0) for v in range(1, 3000)], True),
    ],
    ids=["undirected", "one component", "no arcs", "out of one", "into one"],
)
def test_nothing_is_held_of_what_is_one_or_has_no_end(n, arcs, directed):
    closed = transitive_closure(edge_index(arcs), num_nodes=n, directed=directed)
    assert closed.nbytes < 75 * n


def test_memory_is_refused_before_the_run(tuning):
    n = 20_000
    tuning(closure_fill=None)  # would fail if it came to that
    arcs = torch.arange(n, device=DEVICE)
    with pytest.raises(MemoryError, match=r"transitive_closure needs \d+.*bytes.*memory=20000000 "):
        transitive_closure(torch.stack([arcs[:-1], arcs[1:]]), run=Run(memory=20_000_000))


@pytest.mark.slow
def test_a_dense_matrix_is_refused_where_it_does_not_fit():
    n = 10**7
    with pytest.raises(MemoryError, match="to_dense needs 90.9 TiB"):
        transitive_closure(edge_index([(0, 1)]), num_nodes=n).to_dense()


# --- reaches and row


def test_shapes_broadcast():
    closed = transitive_closure(edge_index([(0, 1), (1, 2)]))
    v = torch.arange(3, device=DEVICE)
    assert closed.reaches(0, v).tolist() == [False, True, True]
    assert closed.reaches(v, 2).tolist() == [True, True, False]
    assert closed.reaches(v[:, None], v.int()).tolist() == closed.to_dense().tolist()
    assert closed.reaches(v[:0], v[:0]).tolist() == []
    assert closed.reaches(v[0], v[2]).shape == ()
    assert closed.reaches(v.cpu(), 2).device == DEVICE


@pytest.mark.each
@pytest.mark.parametrize(
    "u, v, error, said",
    [
        (3, 0, ValueError, r"u .*3.*\[0, 3\)"),
        (0, -1, ValueError, r"v .*-1.*\[0, 3\)"),
        (2**70, 0, ValueError, "u "),
        (0, torch.tensor([1, 7]), ValueError, r"v contains vertex 7.*\[0, 3\)"),
        (torch.tensor([0.0]), 0, TypeError, "u must hold integer.*float32"),
        (torch.tensor([True]), 0, TypeError, "u must hold integer.*bool"),
        ("0", 0, TypeError, "u must be.*str"),
        (0, True, TypeError, "v must be.*bool"),
        (0, None, TypeError, "v must be.*NoneType"),
        (torch.arange(3), torch.arange(2), ValueError, r"broadcast.*\[3\].*\[2\]"),
        (torch.zeros(1, dtype=torch.int64, device="meta"), 0, ValueError, "u must be.*one on meta"),
    ],
)
def test_bad_pairs(u, v, error, said):
    closed = transitive_closure(edge_index([(0, 1), (1, 2)]))
    with pytest.raises(error, match=said):
        closed.reaches(u, v)


@pytest.mark.each
@pytest.mark.parametrize(
    "u, error", [(3, ValueError), ("0", TypeError), (torch.arange(2), TypeError)]
)
def test_bad_rows(u, error):
    with pytest.raises(error, match="u "):
        transitive_closure(edge_index([(0, 1), (1, 2)])).row(u)


def test_frozen_and_shown():
    closed = transitive_closure(edge_index([(0, 1), (1, 2)]))
    with pytest.raises(dataclasses.FrozenInstanceError):
        closed.num_nodes = 4
    shown = repr(closed)
    assert shown.startswith("Closure(num_nodes=3, pairs=3, reflexive=False, device=")
    assert f"{closed.nbytes} bytes" in shown


# --- reachable


@given(graph=arc_lists().filter(lambda graph: graph[0] > 0), directed=st.booleans(), data=st.data())
@settings(max_examples=100)
def test_reachable(way, graph, directed, data):
    n, arcs = graph
    distances, _ = shortest_paths(n, arcs if directed else both_ways(arcs))
    truth = [[d is not None for d in row] for row in distances]
    options = {"num_nodes": n, "directed": directed}
    sources = data.draw(subsets(n))
    some = reachable(edge_index(arcs), torch.tensor(sources), **options)
    assert some.dtype == torch.bool and some.device == DEVICE
    assert some.tolist() == [truth[s] for s in sources]
    assert reachable(edge_index(arcs), sources[0], **options).tolist() == truth[sources[0]]


@pytest.mark.each
@pytest.mark.parametrize(
    "sources, error, said",
    [
        (4, ValueError, r"sources.*4.*\[0, 4\)"),
        (-1, ValueError, "sources.*-1"),
        (torch.tensor([0, 0]), ValueError, "sources.*more than once"),
        (torch.tensor([], dtype=torch.int64), ValueError, "sources.*empty"),
        (1.0, (TypeError, ValueError), "sources"),
        (True, (TypeError, ValueError), "sources"),
        ("all", TypeError, "sources"),
        (None, TypeError, "sources"),
    ],
)
def test_bad_sources(sources, error, said):
    with pytest.raises(error, match=said):
        reachable(edge_index(path(4)), sources)


# --- arguments


@pytest.mark.each
@pytest.mark.parametrize(
    "options, error, said",
    [
        ({"reflexive": 1}, TypeError, "reflexive.*True, False or None.*1"),
        ({"reflexive": "yes"}, TypeError, "reflexive.*'yes'"),
        ({"memory": 0}, ValueError, "memory.*0"),
        ({"progress": "yes"}, TypeError, "progress"),
        ({"edge_weight": torch.ones(3)}, NotImplementedError, "transitive_closure.*edge_weight"),
        ({"num_nodes": 2}, ValueError, "num_nodes=2"),
    ],
)
def test_bad_arguments(options, error, said):
    with pytest.raises(error, match=said):
        call(transitive_closure, edge_index(path(4)), **options)


def test_a_graph_is_taken_as_it_is():
    n, arcs = union((3, path(3)), (3, cycle(3)))
    graph = Graph.from_edge_index(edge_index(arcs), n, directed=False)
    assert transitive_closure(graph).count() == 12
    with pytest.raises(ValueError, match="directed=True contradicts"):
        transitive_closure(graph, directed=True)
