"""cutoff of closeness and harmonic: distances beyond it count for nothing, on every engine."""

import heapq
import math
import random
from types import SimpleNamespace

import networkx
import pytest
import torch
from graphs import DEVICE, cycle, edge_index, grid, path, random_graph, star
from internals import copied_inputs, has_kernel
from runs import SMALL
from surface import call
from test_batch import together
from tuning import original

import torchcent
from torchcent import Graph, cli

F64 = torch.float64
SHAPES = {
    "path": (12, path(12)),
    "leaves": (9, [*path(6), (2, 6), (2, 7), (6, 8)]),
    "grid": (30, grid(5, 6)),
    "star": (7, star(6)),
    "cycle": (40, cycle(40)),
    "two parts": (60, random_graph(60, 70, seed=2)),
    "150": (150, random_graph(150, 300, seed=3)),
}


def distances(n: int, arcs: list, weights: list[float], directed: bool) -> list[list[float]]:
    """By Dijkstra's algorithm, to every vertex from every other."""
    heads: list[list[tuple[int, float]]] = [[] for _ in range(n)]
    for (u, v), weight in zip(arcs, weights, strict=True):
        heads[v].append((u, weight))
        if not directed:
            heads[u].append((v, weight))
    rows = []
    for target in range(n):
        row, heap = [math.inf] * n, [(0.0, target)]
        while heap:
            d, v = heapq.heappop(heap)
            if d >= row[v]:
                continue
            row[v] = d
            for u, weight in heads[v]:
                heapq.heappush(heap, (d + weight, u))
        rows.append(row)
    return rows


def expected(rows: list[list[float]], cutoff: float) -> tuple[list[float], list[float]]:
    """Closeness and harmonic centrality."""
    closeness, harmonic, n = [], [], len(rows)
    for v, row in enumerate(rows):
        near = [d for u, d in enumerate(row) if u != v and d <= cutoff and d < math.inf]
        closeness.append(len(near) / sum(near) * len(near) / (n - 1) if near else 0.0)
        harmonic.append(sum(1 / d for d in near))
    return closeness, harmonic


@pytest.mark.sweep(by="shape engine directed")
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("engine", ["auto", "bits", "tensor", "weights auto", "weights relax",
                                    "weights dijkstra", "weights tensor"])  # fmt: skip
@pytest.mark.parametrize("shape", SHAPES)
def test_against_all_distances(shape, engine, directed):
    kind, _, engine = engine.rpartition(" ")
    operator = "distance_sums" if engine == "bits" else "weighted_distances"
    if engine in ("bits", "relax", "dijkstra") and not has_kernel(operator, DEVICE):
        pytest.skip(f"engine={engine!r} has no kernels for {DEVICE}")
    n, arcs = SHAPES[shape]
    draw = random.Random(n)
    weights = [draw.randint(1, 4) / 2 if kind else 1 for _ in arcs]
    length = torch.tensor(weights, dtype=F64, device=DEVICE) if kind else None
    graph = Graph.from_edge_index(edge_index(arcs), n, directed, length)
    some = torch.tensor([0, n // 2, n - 1])
    rows = distances(n, arcs, weights, directed)
    cutoffs, columns = (0, 1, 2, 2.5, 5, 1000, math.inf), []
    for cutoff in cutoffs:
        wanted = expected(rows, cutoff)
        options = {"cutoff": cutoff, "engine": engine, "dtype": F64}
        columns.append(wanted)
        for measure, scores in zip((torchcent.closeness, torchcent.harmonic), wanted, strict=True):
            scores = torch.tensor(scores, dtype=F64)
            torch.testing.assert_close(call(measure, graph, **options).cpu(), scores)
            found = call(measure, graph, vertices=some, **options).cpu()
            torch.testing.assert_close(found, scores[some])
            every = torch.arange(n)  # as pivots: all of them are exact
            pivots = call(measure, graph, sources=every, **options).cpu()
            torch.testing.assert_close(pivots, scores)
    for place, measure in enumerate((torchcent.closeness, torchcent.harmonic)):
        scores = torch.tensor([wanted[place] for wanted in columns], dtype=F64).T
        options = {"cutoff": torch.tensor(cutoffs), "engine": engine, "dtype": F64}
        torch.testing.assert_close(call(measure, graph, **options).cpu(), scores)
        found = call(measure, graph, vertices=some, **options).cpu()
        torch.testing.assert_close(found, scores[some])


KINDS = ["auto", "bits", "tensor", "weights auto", "weights relax", "weights dijkstra",
         "weights tensor"]  # fmt: skip


def of_kind(kind: str, n: int, arcs: list, directed: bool) -> tuple[Graph, str]:
    """A graph with or without weights, and the engine; skips if the engine has no kernels."""
    weighted, _, engine = kind.rpartition(" ")
    operator = "weighted_distances" if weighted else "distance_sums"
    if engine not in ("auto", "tensor") and not has_kernel(operator, DEVICE):
        pytest.skip(f"engine={engine!r} has no kernels for {DEVICE}")
    draw = random.Random(n)
    length = [draw.choice((0.1, 0.2, 0.5, 1.3)) for _ in arcs]
    weight = torch.tensor(length, dtype=F64, device=DEVICE) if weighted else None
    return Graph.from_edge_index(edge_index(arcs), n, directed, weight), engine


@pytest.mark.sweep(by="shape kind")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", ["leaves", "two parts"])
def test_several_have_the_bits_of_each(shape, kind):
    n, arcs = SHAPES[shape]
    for directed in (False, True):
        graph, engine = of_kind(kind, n, arcs, directed)
        cutoffs = [3, 0.3, math.inf, 1, 3, 10**6]
        some = torch.arange(0, n, 2, device=DEVICE)
        for measure in (torchcent.closeness, torchcent.harmonic):
            for chosen in ({}, {"vertices": some}, {"sources": some}):
                options = {"engine": engine, "dtype": F64, **chosen}
                found = call(measure, graph, cutoff=cutoffs, **options)
                # The largest chooses the engine; inf, as which None counts, chooses its own.
                plan = call(
                    torchcent.explain, graph, measure=measure.__name__, engine=engine,
                    cutoff=cutoffs, sources=some if chosen else None,
                )  # fmt: skip
                for column, cutoff in zip(found.unbind(1), cutoffs, strict=True):
                    options["engine"] = plan.engine if cutoff < math.inf else engine
                    alone = call(measure, graph, cutoff=cutoff, **options)
                    assert torch.equal(column, alone), cutoff


@pytest.mark.parametrize("kind", KINDS)
def test_several_are_one_search(kind, tuning):
    n, arcs = SHAPES["150"]
    graph, engine = of_kind(kind, n, arcs, False)
    begun = []
    for name in ("run_sums", "run_weighted_sums"):
        real = original(name)
        tuning(**{name: lambda *a, real=real, **k: begun.append(a) or real(*a, **k)})
    for chosen in ({}, {"vertices": torch.arange(9)}, {"sources": torch.arange(9)}):
        begun.clear()
        call(torchcent.harmonic, graph, cutoff=[1, 2, 4], engine=engine, **chosen)
        assert len(begun) == 1


@pytest.mark.slow
def test_several_units_and_threads(tuning, threads):
    """Sums of units, which are added up, have columns, too."""
    tuning(**SMALL)
    graph = Graph.from_edge_index(edge_index(random_graph(700, 1500, seed=8)), directed=False)
    for engine in ("auto", "tensor"):
        options = {"engine": engine, "dtype": F64}
        torch.set_num_threads(1)
        one_by_one = [call(torchcent.closeness, graph, cutoff=c, **options) for c in (2, 3, 6)]
        torch.set_num_threads(3)
        found = call(torchcent.closeness, graph, cutoff=[2, 3, 6], **options)
        assert torch.equal(found, torch.stack(one_by_one, 1))


def test_limits_stay_on_the_host(tuning):
    """Kernels of every device read them there: what is copied to another one has none of them."""
    if not has_kernel("distance_sums", DEVICE):
        pytest.skip(f"no kernels for {DEVICE}")
    searches, given = [], []
    tuning(run_units=lambda search, *_: searches.append(search))
    graph = Graph.from_edge_index(edge_index(random_graph(150, 300, seed=3)), directed=False)
    for chosen in ({}, {"vertices": torch.arange(9)}):
        call(torchcent.harmonic, graph, cutoff=[1, 3], engine="bits", **chosen)
    taken = SimpleNamespace(
        distance_sums=lambda *a: given.append(a[-2]), source_sums=lambda *a: given.append(a[-2])
    )
    tuning(operators=taken)
    for search in searches:
        there = copied_inputs(search.inputs, torch.device("meta"), {})
        search.compute(there, slice(0, 5), search.totals, 0, torch.zeros(4, dtype=torch.int64))
    assert [limits.tolist() for limits in given] == [[1, 3], [1, 3]]
    assert all(limits.device.type == "cpu" for limits in given)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_several_against_igraph_and_networkx(directed, weighted):
    igraph = pytest.importorskip("igraph")
    n, arcs = SHAPES["150"]
    arcs = [(u, v) for u, v in dict.fromkeys(arcs) if u != v and (directed or u < v)]
    draw = random.Random(5)
    length = [draw.randint(1, 8) / 2 for _ in arcs] if weighted else None
    other = igraph.Graph(n, arcs, directed=directed)
    weight = None if length is None else torch.tensor(length, dtype=F64, device=DEVICE)
    graph = Graph.from_edge_index(edge_index(arcs), n, directed, weight)
    cutoffs, options = [1, 2, 3.5, 6], {"dtype": F64}
    closeness = call(torchcent.closeness, graph, cutoff=cutoffs, wf_improved=False, **options).cpu()
    harmonic = call(torchcent.harmonic, graph, cutoff=cutoffs, normalized=True, **options).cpu()
    for at, cutoff in enumerate(cutoffs):
        theirs = other.closeness(mode="in", cutoff=cutoff, weights=length)
        theirs = torch.tensor(theirs, dtype=F64).nan_to_num(0)  # NaN where nothing is near
        torch.testing.assert_close(closeness[:, at], theirs)
        theirs = other.harmonic_centrality(mode="in", cutoff=cutoff, weights=length)
        torch.testing.assert_close(harmonic[:, at], torch.tensor(theirs, dtype=F64))
    made = networkx.DiGraph() if directed else networkx.Graph()
    made.add_nodes_from(range(n))
    made.add_weighted_edges_from(
        (u, v, w) for (u, v), w in zip(arcs, length or [1] * len(arcs), strict=True)
    )
    backward = made.reverse() if directed else made
    for at, cutoff in enumerate(cutoffs):
        for v in range(0, n, 10):
            near = networkx.single_source_dijkstra_path_length(backward, v, cutoff=cutoff)
            total = sum(1 / d for d in near.values() if d) / (n - 1)
            assert float(harmonic[v, at]) == pytest.approx(total)


def test_several_of_a_batch():
    parts = [SHAPES[name] for name in ("path", "grid", "star", "two parts")]
    index, ptr = together(parts)
    options = {"directed": False, "cutoff": [2, 5, math.inf], "dtype": F64}
    some = torch.tensor([0, 13, 40, 41])
    for chosen in ({}, {"sources": some}, {"vertices": some}):
        found = call(torchcent.closeness, index, ptr=ptr, **{**options, **chosen})
        for at, cutoff in enumerate(options["cutoff"]):
            one = call(
                torchcent.closeness, index, ptr=ptr, **{**options | {"cutoff": cutoff}, **chosen}
            )
            assert found[:, at].tolist() == pytest.approx(one.tolist(), rel=0, abs=0, nan_ok=True)


def test_several_of_nothing():
    empty = torch.empty(2, 0, dtype=torch.int64)
    for n in (0, 3):
        for weight in (None, torch.empty(0)):
            found = torchcent.harmonic(empty, weight, num_nodes=n, cutoff=[1, 2])
            assert found.shape == (n, 2) and not found.any()


def test_memory_of_several():
    graph = torchcent.generate.ba(3000, 3)
    one, five = (
        torchcent.explain(
            graph, measure="closeness", cutoff=cutoff, run=torchcent.Run(engine="bits")
        )
        for cutoff in (3, [1, 2, 3, 4, 5])
    )
    # four more rows of sums of graph and core, and two of each thread, which has another in all
    rows = 4 * (2 + 2 * five.threads) + five.threads
    assert five.memory - one.memory == 32 * 3000 * rows
    assert five.cutoffs == (1, 2, 3, 4, 5) and five.engine == one.engine


def test_several_from_the_same_pivots(tmp_path):
    graph = Graph.from_edge_index(edge_index(random_graph(150, 300, seed=3)), directed=False)
    pivots = torch.randperm(150, generator=torch.Generator().manual_seed(4))[:9]
    options = {"sources": pivots, "cutoff": [3, 2], "checkpoint": tmp_path}
    found, again = (call(torchcent.harmonic, graph, **options) for _ in range(2))
    assert torch.equal(found, again)
    for column, cutoff in zip(found.unbind(1), options["cutoff"], strict=True):
        one = torchcent.harmonic(graph, sources=pivots, cutoff=cutoff)
        assert torch.equal(column, one)


@pytest.mark.slow
def test_no_cutoff_gives_the_same_bits():
    graph = torchcent.generate.ba(700, 3)
    for measure in (torchcent.closeness, torchcent.harmonic):
        plain = measure(graph, run=torchcent.Run(engine="tensor", dtype=F64))
        assert torch.equal(
            plain, measure(graph, run=torchcent.Run(engine="tensor", dtype=F64), cutoff=math.inf)
        )
        far = measure(graph, run=torchcent.Run(dtype=F64), cutoff=50)
        torch.testing.assert_close(far, measure(graph, run=torchcent.Run(dtype=F64)))


def test_batch():
    parts = [SHAPES[name] for name in ("path", "grid", "star", "two parts")]
    index, ptr = together(parts)
    found = call(torchcent.harmonic, index, ptr=ptr, directed=False, cutoff=2, dtype=F64)
    one_by_one = [
        torchcent.harmonic(
            edge_index(arcs), num_nodes=n, directed=False, cutoff=2, run=torchcent.Run(dtype=F64)
        )
        for n, arcs in parts
    ]
    torch.testing.assert_close(found, torch.cat(one_by_one))


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"cutoff": -1}, ValueError, "cutoff must be >= 0, got -1"),
        ({"cutoff": math.nan}, ValueError, "cutoff must be >= 0, got nan"),
        ({"cutoff": "2"}, TypeError, "cutoff"),
        ({"cutoff": True}, TypeError, "cutoff"),
        ({"cutoff": []}, ValueError, "cutoff must not be empty"),
        ({"cutoff": [2, -1]}, ValueError, r"cutoff\[1\] must be >= 0, got -1"),
        ({"cutoff": [2, "x"]}, TypeError, r"cutoff\[1\]"),
        ({"cutoff": [2, 3], "engine": "tiny"}, ValueError, "cutoff is not for engine='tiny'"),
        ({"cutoff": 2, "engine": "tiny"}, ValueError, "cutoff is not for engine='tiny'"),
        ({"cutoff": 2, "top": 1}, ValueError, "top and cutoff"),
    ],
)
def test_malformed(options, kind, said):
    with pytest.raises(kind, match=said):
        call(torchcent.closeness, edge_index(path(4)), **options)


def test_command_line(tmp_path, capsys):
    (tmp_path / "net.txt").write_text("0 1\n1 2\n2 3\n")
    out = tmp_path / "out.csv"
    for measure, scores in (
        ("harmonic", [1, 2, 2, 1]),
        ("closeness", [1 / 3, 2 / 3, 2 / 3, 1 / 3]),
    ):
        assert cli.main([measure, str(tmp_path / "net.txt"), "--cutoff", "1", "-o", str(out)]) == 0
        lines = out.read_text().splitlines()[1:]
        assert [float(line.split(",")[2]) for line in lines] == pytest.approx(scores)
    capsys.readouterr()


@pytest.mark.parametrize("engine", ["reference", "relax", "dijkstra", "tensor", "auto"])
def test_rounding_of_sums_is_within(engine):
    """6 * 0.1 + 3 * 0.1 + 0.1 is 1 or a little more, by the order, and no decimals are these."""
    if engine == "reference" and DEVICE.type != "cpu":
        pytest.skip("engine='reference' is on the CPU")
    each = [6 * 0.1, 3 * 0.1, 1 * 0.1]
    assert each[0] + each[1] + each[2] != each[2] + each[1] + each[0]
    lengths = torch.tensor(each, dtype=F64, device=DEVICE)
    graph = Graph.from_edge_index(edge_index(path(4)), 4, directed=False, edge_weight=lengths)
    assert not graph.scale.exact
    run = torchcent.Run(engine=engine, dtype=F64)
    for measure in (torchcent.closeness, torchcent.harmonic, torchcent.betweenness):
        within = measure(graph, cutoff=[1, 1 - 1e-9], run=run).cpu().T
        torch.testing.assert_close(within[0], measure(graph, run=run).cpu(), rtol=1e-6, atol=0)
        assert (within[1] != within[0])[
            [0, 3] if measure != torchcent.betweenness else [1, 2]
        ].all()


@pytest.mark.parametrize("engine", ["reference", "relax", "dijkstra", "tensor", "auto"])
def test_rounding_of_sums_from_sources_is_within(engine):
    """The same from one end alone, from which searches add up the larger sum."""
    if engine == "reference" and DEVICE.type != "cpu":
        pytest.skip("engine='reference' is on the CPU")
    for each in ([6 * 0.1, 3 * 0.1, 1 * 0.1], [1 * 0.1, 3 * 0.1, 6 * 0.1]):
        lengths = torch.tensor(each, dtype=F64, device=DEVICE)
        graph = Graph.from_edge_index(edge_index(path(4)), 4, directed=False, edge_weight=lengths)
        run = torchcent.Run(engine=engine, dtype=F64)
        for end, other in ((0, 3), (3, 0)):
            options = {"sources": torch.tensor([end]), "run": run}
            scores = torchcent.harmonic(graph, cutoff=[1, 1 - 1e-9], **options)[other].tolist()
            assert scores == [pytest.approx(3), 0]
