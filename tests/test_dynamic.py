"""Graphs that change: after every history, scores are those of the graph as it is."""

import math
import random

import networkx
import pytest
import torch
from graphs import DEVICE, edge_index, grid, path
from histories import EXACT, NONE, History, columns, histories, run_long
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import has_kernel

import torchcent
from torchcent import (
    DynamicBetweenness,
    DynamicCloseness,
    DynamicEdgeBetweenness,
    DynamicGraph,
    Graph,
    Run,
)

pytestmark = pytest.mark.skipif(
    DEVICE.type != "cpu" or not has_kernel("dynamic_rows", DEVICE), reason="is on the CPU, compiled"
)

F64 = torch.float64
STATES = ("rows", "none")
KINDS = ("closeness", "harmonic", "eccentricity")


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@settings(max_examples=15)
@given(history=histories)
def test_snapshots_have_the_bits_of_a_new_graph(history):
    for _ in range(8):
        history.step()
        graph, new = history.graph.snapshot(), history.frozen()
        assert graph == new
        assert torch.equal(graph.slot, new.slot)
        assert (history.graph.num_nodes, history.graph.num_edges) == (history.n, len(history.edges))


@settings(max_examples=15)
@given(history=histories, normalized=st.booleans(), data=st.data())
def test_betweenness_follows(history, normalized, data):
    pivots = data.draw(st.none() | st.lists(st.integers(0, history.n - 1), min_size=1, unique=True))
    options = {"sources": torch.tensor(pivots) if pivots else None, "normalized": normalized}
    following = [DynamicBetweenness(history.graph, state=state, **options) for state in STATES]
    for _ in range(8):
        before = [measure.scores for measure in following]
        history.step()
        new = DynamicBetweenness(history.graph, state="none", **options).scores
        known = torchcent.betweenness(history.frozen(), run=EXACT, **options)
        if pivots is None:
            of_networkx = networkx.betweenness_centrality(
                history.of_networkx(), normalized=normalized
            )
            expected = torch.tensor([of_networkx[v] for v in range(history.n)], dtype=F64)
            torch.testing.assert_close(new, expected, rtol=1e-12, atol=1e-15)
        torch.testing.assert_close(new, known, rtol=1e-12, atol=1e-15, equal_nan=True)
        for measure, old in zip(following, before, strict=True):
            torch.testing.assert_close(measure.scores, new, rtol=0, atol=0, equal_nan=True)
            old = torch.cat([old, torch.full((history.n - old.numel(),), -1.0, dtype=F64)])
            differ = ~torch.isclose(old, new, rtol=0, atol=0, equal_nan=True)
            if history.graph.num_nodes == old.numel():
                assert measure.changed.tolist() == differ.nonzero().flatten().tolist()


@settings(max_examples=15)
@given(history=histories, normalized=st.booleans(), data=st.data())
def test_edge_betweenness_follows(history, normalized, data):
    pivots = data.draw(st.none() | st.lists(st.integers(0, history.n - 1), min_size=1, unique=True))
    options = {"sources": torch.tensor(pivots) if pivots else None, "normalized": normalized}
    following = DynamicEdgeBetweenness(history.graph, **options)
    for _ in range(6):
        before = dict(zip(map(tuple, following.edges.T.tolist()), following.scores, strict=True))
        history.step()
        edges = [tuple(edge) for edge in following.edges.T.tolist()]
        assert edges == sorted(history.edges)
        assert following.edges.dtype == torch.int64 and following.edges.shape[0] == 2
        scores, frozen = following.scores, history.frozen()
        known = torchcent.edge_betweenness(frozen, run=EXACT, **options)
        torch.testing.assert_close(scores, known, rtol=1e-6, atol=1e-12)
        if pivots is None:
            of_networkx = networkx.edge_betweenness_centrality(
                history.of_networkx(), normalized=normalized
            )
            for edge, score in zip(edges, scores.tolist(), strict=True):
                other = of_networkx.get(edge, of_networkx.get(edge[::-1]))
                assert math.isclose(score, other, rel_tol=1e-6)
        differ = [i for i, edge in enumerate(edges) if before.get(edge) != scores[i]]
        if following._before is not None:  # else nothing has changed
            assert following.changed.tolist() == differ


@settings(max_examples=15)
@given(history=histories, normalized=st.booleans(), wf_improved=st.booleans())
def test_closeness_follows(history, normalized, wf_improved):
    following = {
        (kind, state): DynamicCloseness(
            history.graph,
            measure=kind,
            normalized=normalized,
            wf_improved=wf_improved,
            state=state,
        )
        for kind in KINDS
        for state in STATES
    }
    own = {
        "closeness": {"wf_improved": wf_improved},
        "harmonic": {"normalized": normalized},
        "eccentricity": {"disconnected": "component"},
    }
    for _ in range(8):
        history.step()
        for (kind, state), measure in following.items():
            known = getattr(torchcent, kind)(history.frozen(), run=EXACT, **own[kind])
            torch.testing.assert_close(measure.scores, known, rtol=1e-12, atol=0)
            fresh = DynamicCloseness(
                history.graph,
                measure=kind,
                normalized=normalized,
                wf_improved=wf_improved,
                state=state,
            )
            if state == "rows":
                assert torch.equal(measure.scores, fresh.scores)


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_a_long_history(directed):
    """Cutting a graph into parts and joining it again, with batches of every size."""
    chance = random.Random(3)
    history = History(60, directed, chance)
    history.edges = {history.one(*arc) for arc in grid(6, 10)}
    history.graph.update(insert=columns(history.edges))
    rows = DynamicBetweenness(history.graph, state="rows")
    recomputed = repaired = 0
    for _ in range(60):
        history.step()
        recomputed += rows.statistics.recomputed
        repaired += rows.statistics.sources - rows.statistics.recomputed
    assert recomputed > 0 and repaired > 0
    new = DynamicBetweenness(history.graph, state="none")
    assert torch.equal(rows.scores, new.scores)


@pytest.mark.slow
@pytest.mark.sweep(cases=1)
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_four_hundred_updates(directed, threads):
    """tools/histories.py makes more of them, of all measures."""
    threads(1)
    history = History(30, directed, random.Random(directed))
    history.most = 45
    names = [*(f"betweenness, {state}" for state in STATES), *KINDS]
    assert run_long(history, names, 400, 20) == 20 * len(names)
    assert history.n > 30


def test_sources_between_equal_levels_are_left_alone():
    graph = DynamicGraph(edge_index([(0, 1), (0, 2), (1, 3), (2, 3)]), 4, directed=False)
    follows = {state: DynamicBetweenness(graph, state=state) for state in STATES}
    for measure in follows.values():
        assert measure.scores.shape == (4,)
    graph.update(insert=torch.tensor([[1], [2]]))
    for state, measure in follows.items():
        assert (measure.statistics.sources, measure.statistics.state) == (2, state)  # 1 and 2


def test_threads_do_not_matter(threads):
    edges = torchcent.generate.ba(300, 3, seed=1)
    scores = []
    for number in (1, 2, 5):
        threads(number)
        graph = DynamicGraph(edges, directed=False)
        measure = DynamicBetweenness(graph, state="rows")
        graph.update(insert=torch.tensor([[0, 299], [299, 17]]), strict=False)
        graph.update(delete=edges[:, :40])
        scores.append(measure.scores)
    assert torch.equal(scores[0], scores[1]) and torch.equal(scores[0], scores[2])


def test_what_is_not_referenced_does_not_follow():
    graph = DynamicGraph(edge_index(path(4)), directed=False)
    assert DynamicBetweenness(graph).scores.tolist() == [0, 2 / 3, 2 / 3, 0]
    assert len(graph._measures) == 0


@pytest.mark.parametrize("failing", [DynamicBetweenness, DynamicCloseness])
def test_a_failure_leaves_the_graph_as_it_was(monkeypatch, failing):
    """Also for the other measure, whether it followed before the one that failed or not."""
    graph = DynamicGraph(edge_index(path(5)), directed=False)
    measures = [DynamicBetweenness(graph), DynamicCloseness(graph)]
    before, edges = [measure.scores for measure in measures], graph.snapshot()

    def fails(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as changed:
        changed.setattr(failing, "_repair", fails)
        with pytest.raises(KeyboardInterrupt):
            graph.update(insert=torch.tensor([[0], [4]]))
    assert graph.snapshot() == edges
    for measure, scores in zip(measures, before, strict=True):
        assert torch.equal(measure.scores, scores)
    graph.update(insert=torch.tensor([[0], [4]]))
    for measure in measures:
        assert torch.equal(measure.scores, type(measure)(graph).scores)


@pytest.mark.parametrize("state", ["rows", "none", "whole"])
@pytest.mark.parametrize("directed", [False, True])
def test_an_empty_graph_that_grows(state, directed):
    graph = DynamicGraph(NONE, 0, directed)
    measures = [DynamicBetweenness(graph, state=state)]
    if state != "whole":
        measures.append(DynamicCloseness(graph, state=state))
    assert all(measure.scores.shape == (0,) for measure in measures)
    for end in range(1, 40):
        graph.update(torch.tensor([[end - 1], [end]]), grow=True)
        expected = [torchcent.betweenness, torchcent.closeness][: len(measures)]
        for measure, fresh in zip(measures, expected, strict=True):
            torch.testing.assert_close(measure.scores, fresh(graph.snapshot(), run=EXACT))


def test_labels_stay():
    named = Graph.from_edges([("a", "b"), ("b", "c")], directed=False)
    graph = DynamicGraph(named)
    graph.update(insert=torch.tensor([[0], [2]]))
    assert list(graph.snapshot().labels) == list(named.labels)


def diamonds(count):
    """A chain of diamonds, with 2^count shortest paths from its first vertex to its last."""
    rhomb = ((0, 1), (0, 2), (1, 3), (2, 3))
    return edge_index([(3 * i + a, 3 * i + b) for i in range(count) for a, b in rhomb])


@pytest.mark.parametrize("state", ["rows", "none"])
def test_too_many_paths(state):
    graph = DynamicGraph(diamonds(1100), directed=True)
    with pytest.raises(OverflowError, match="too many shortest paths"):
        DynamicBetweenness(graph, sources=torch.tensor([0]), state=state).scores  # noqa: B018


def test_paths_beyond_float64_are_counted_by_the_whole():
    clique = 3301 + torch.combinations(torch.arange(180)).T  # enough edges for rows
    graph = DynamicGraph(torch.cat([diamonds(1100), clique], dim=1), directed=True)
    pivots = torch.tensor([0, 7, 3400])
    measure = DynamicBetweenness(graph, sources=pivots)
    for step in range(43):
        graph.update(delete=clique[:, step : step + 1])
        assert measure.statistics.state == "whole"
    known = torchcent.betweenness(graph.snapshot(), sources=pivots, run=Run(dtype=F64))
    assert torch.equal(measure.scores, known)


# Distances up to 253 take a byte, path counts up to 2^53 are exact.
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize(
    ("edges", "changes"),
    [
        (diamonds(52), [(0, 3), (3, 9), (156, 0), (90, 30)]),
        (diamonds(60), [(0, 3), (3, 9), (180, 0), (90, 30)]),
        (diamonds(60)[:, 40:], [(0, 60), (27, 30), (100, 31)]),  # counts that grow beyond
        (edge_index(path(253)), [(0, 2), (40, 200), (252, 0)]),
        (edge_index(path(254)), [(0, 2), (40, 200), (253, 0)]),
        (edge_index(path(400)), [(0, 399), (0, 200), (200, 399)]),  # distances that grow beyond
    ],
    ids=["2^52", "2^60", "fewer", "253", "254", "400"],
)
def test_large_distances_and_counts(edges, changes, directed):
    n = int(edges.max()) + 1
    graph = DynamicGraph(edges, n, directed)
    rows = DynamicBetweenness(graph, state="rows")
    bridge = edges[:, edges.shape[1] // 2 :][:, :1]
    steps = [("insert", torch.tensor([arc]).T) for arc in changes]
    steps += [("delete", bridge), *(("delete", arc) for _, arc in steps)]
    for kind, arc in steps:
        graph.update(**{kind: arc})
        new = DynamicBetweenness(graph, state="none").scores
        assert torch.equal(rows.scores, new)
        assert torch.equal(rows.scores, DynamicBetweenness(graph, state="rows").scores)
        known = torchcent.betweenness(graph.snapshot(), run=EXACT)
        torch.testing.assert_close(new, known, rtol=1e-12, atol=1e-18)


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_larger_graphs(directed):
    chance = torch.Generator().manual_seed(5)
    n = 200
    graph = DynamicGraph(torchcent.generate.ba(n, 6, seed=4), n, directed)
    rows = DynamicBetweenness(graph, state="rows", normalized=False)
    repaired = 0
    for step in range(30):
        count = (1, 1, 1, 3, 20)[step % 5]
        arcs = torch.randint(n, (2, count), generator=chance)
        there = graph.snapshot().to_edge_index()
        some = there[:, torch.randint(there.shape[1], (count,), generator=chance)]
        kind = step % 3
        graph.update(None if kind == 1 else arcs, None if kind == 0 else some, strict=False)
        repaired += rows.statistics.sources - rows.statistics.recomputed
        assert torch.equal(
            rows.scores, DynamicBetweenness(graph, state="none", normalized=False).scores
        )
        known = torchcent.betweenness(graph.snapshot(), normalized=False, run=EXACT)
        torch.testing.assert_close(rows.scores, known, rtol=1e-12, atol=1e-14)
    assert repaired > 1000


def test_auto_takes_what_pays():
    clique = torch.combinations(torch.arange(60)).T
    graph = DynamicGraph(clique, 300, directed=False)
    dense, small = (DynamicBetweenness(graph, run=Run(memory=m)) for m in (2**30, 2_000_000))
    states = []
    for step in range(50):
        graph.update(insert=torch.tensor([[0], [250]])) if step % 2 else graph.update(
            delete=torch.tensor([[0], [250]]), strict=False
        )
        states.append(dense.statistics.state)
        assert small.statistics.state == ("whole" if step else "none")
    assert states == ["none"] + 40 * ["whole"] + 9 * ["rows"]
    assert 0 < dense.statistics.sources <= 62
    assert dense.statistics.recomputed < dense.statistics.sources
    assert small.statistics.sources == small.statistics.recomputed == 300
    torch.testing.assert_close(dense.scores, small.scores, rtol=1e-6, atol=0)
    for count, state in ((8, "rows"), (9, "whole"), (1, "whole")):
        graph.update(delete=clique[:, :count])
        assert dense.statistics.state == state
        graph.update(insert=clique[:, :count])
        assert dense.statistics.state == state
        known = torchcent.betweenness(graph.snapshot(), run=Run(dtype=F64))
        assert torch.equal(small.scores, known)
        torch.testing.assert_close(dense.scores, known, rtol=1e-6, atol=0)
        assert dense.changed.numel()


@pytest.mark.parametrize("measure", [DynamicBetweenness, DynamicCloseness])
def test_growth_stays_within_memory(measure):
    graph = DynamicGraph(edge_index(path(30)), directed=False)
    rows = measure(graph, state="rows", run=Run(memory=30_000))
    before = rows.scores
    with pytest.raises(MemoryError, match="state='rows'"):
        graph.update(insert=torch.tensor([[0], [199]]), grow=True)
    assert graph.num_nodes == 30
    assert torch.equal(rows.scores, before)


def test_closeness_takes_rows_after_many_small_updates():
    graph = DynamicGraph(torchcent.generate.ba(400, 3, seed=2), 400, directed=False)
    fits, small = (DynamicCloseness(graph, run=Run(memory=m)) for m in (2**30, 600_000))
    states, new = [], torch.tensor([[0], [399]])
    for step in range(45):
        graph.update(**{("delete" if step % 2 else "insert"): new}, strict=False)
        states.append(fits.statistics.state)
        assert torch.equal(fits.scores, small.scores)
    assert set(states[:40]) == {"none"} and set(states[40:]) == {"rows"}
    assert small.statistics.state == "none"
    graph.update(insert=torch.combinations(torch.arange(20)).T, strict=False)
    assert fits.statistics.state == "none"
    with pytest.raises(MemoryError, match="state='rows'"):
        DynamicCloseness(graph, state="rows", run=Run(memory=1000))


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_closeness_of_large_distances(directed):
    graph = DynamicGraph(edge_index(path(300)), 300, directed)
    measures = {kind: DynamicCloseness(graph, measure=kind, state="rows") for kind in KINDS}
    for u, v in ((0, 299), (5, 200), (299, 0), (100, 150)):
        for kind in ("insert", "delete"):
            graph.update(**{kind: torch.tensor([[u], [v]])})
            for name, measure in measures.items():
                options = {"disconnected": "component"} if name == "eccentricity" else {}
                known = getattr(torchcent, name)(graph.snapshot(), run=EXACT, **options)
                torch.testing.assert_close(measure.scores, known, rtol=1e-12, atol=0)


PATH = DynamicGraph(edge_index(path(4)), directed=False)


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"insert": [[0], [2]]}, TypeError, "insert must be a torch.Tensor"),
        ({"insert": torch.tensor([[0], [4]])}, ValueError, "insert.*4.*grow=True"),
        ({"delete": torch.tensor([[0], [4]]), "grow": True}, ValueError, "delete.*4"),
        ({"delete": torch.tensor([[0], [2]])}, ValueError, r"column 0, \(0, 2\), is no edge"),
        ({"insert": torch.tensor([[1], [0]])}, ValueError, r"\(0, 1\), is an edge already"),
        ({"insert": torch.tensor([[2], [2]])}, ValueError, "is a loop; strict=False"),
        ({"insert": torch.tensor([[0, 2], [2, 0]])}, ValueError, "column 1.*is there twice"),
        ({"strict": 1}, TypeError, "strict must be"),
    ],
)  # fmt: skip
def test_malformed_updates(options, kind, said):
    with pytest.raises(kind, match=said):
        PATH.update(**options)
    assert PATH.num_edges == 3


@pytest.mark.parametrize(
    ("make", "kind", "said"),
    [
        (lambda: DynamicBetweenness(PATH.snapshot()), TypeError, "DynamicGraph, got Graph"),
        (lambda: DynamicBetweenness(PATH, state="row"), ValueError, "state must be"),
        (lambda: DynamicCloseness(PATH, measure="degree"), ValueError, "measure must be"),
        (
            lambda: DynamicBetweenness(PATH, state="rows", run=Run(memory=100)),
            MemoryError, "state='rows' needs",
        ),
    ],
)  # fmt: skip
def test_malformed(make, kind, said):
    with pytest.raises(kind, match=said):
        make()


@settings(max_examples=50)
@given(
    arcs=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 20)), max_size=30),
    width=st.integers(1, 8), step=st.integers(1, 5), directed=st.booleans(),
)  # fmt: skip
def test_windows_hold_the_edges_of_their_times(arcs, width, step, directed):
    ends = torch.tensor([arc[:2] for arc in arcs], dtype=torch.int64).reshape(-1, 2).T
    times = torch.tensor([arc[2] for arc in arcs])
    graph = DynamicGraph(NONE, 7, directed)
    end = -math.inf
    for window in torchcent.windows(ends, times, width, step, directed=directed):
        graph.update(window.insert, window.delete)
        within = {arc[:2] for arc in arcs if window.begin <= arc[2] < window.end}
        edges = {arc if directed else (min(arc), max(arc)) for arc in within if arc[0] != arc[1]}
        frozen = Graph.from_edge_index(columns(edges), 7, directed)
        assert graph.snapshot() == frozen
        end = window.end
    assert all(arc[2] < end or arc[0] == arc[1] for arc in arcs)


def test_malformed_windows():
    ends = edge_index(path(3))
    for options, kind, said in (
        ({"times": torch.tensor([1])}, ValueError, "times must be 2 finite numbers"),
        ({"width": 0}, ValueError, "width must be a finite number > 0, got 0"),
        ({"step": -1}, ValueError, "step must be"),
        ({"width": "day"}, TypeError, "width must be a number"),
    ):
        with pytest.raises(kind, match=said):
            torchcent.windows(ends, **{"times": torch.tensor([1, 2]), "width": 1} | options)


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda graph: DynamicBetweenness(graph, state="rows"), "state='rows'"),
        (lambda graph: DynamicBetweenness(graph, state="none"), "state='none'"),
        (lambda graph: DynamicCloseness(graph, state="rows"), "state='rows'"),
        (torchcent.DynamicBetweennessApprox, "DynamicBetweennessApprox"),
    ],
)
def test_without_kernels(tuning, make, what):
    """What cannot compute says so at once; the default computes by tensors."""
    graph = DynamicGraph(edge_index(path(5)), directed=False)
    tuning(compiled=False)
    with pytest.raises(ValueError, match=f"{what} needs the compiled kernels for cpu"):
        make(graph)
    between = DynamicBetweenness(graph, normalized=False)
    assert between.scores.tolist() == [0, 3, 4, 3, 0]
