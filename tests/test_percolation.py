"""percolation: against the definition and NetworkX in every engine, in batches, as a feature, from
the command line and through NetworkX; malformed arguments."""

import random
from fractions import Fraction

import networkx as nx
import path_oracles
import pytest
import torch
from engines import ENGINES, WEIGHTED, assert_scores
from graphs import DEVICE, complete, edge_index, grid, networkx_graph, path, random_graph, star
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import has_kernel
from surface import call

import torchcent
from torchcent import Graph, cli
from torchcent import nx as torchcent_nx

F64 = torch.float64
SHAPES = {
    "leaves": (9, [*path(6), (2, 6), (2, 7)]),
    "parallel paths": (12, grid(3, 4)),
    "two parts": (20, random_graph(20, 22, seed=3)),
    "star": (8, star(7)),
    "complete": (6, complete(6)),
    "40": (40, random_graph(40, 80, seed=5)),
}


def drawn(n: int) -> list[float]:
    draw = random.Random(n)
    return [draw.choice((0, 1)) and draw.randrange(33) / 32 for _ in range(n)]


def definition(n: int, lengths: dict, states: list[float]) -> list[Fraction]:
    exact = [Fraction(x) for x in states]
    score = [Fraction(0)] * n
    for s in range(n):
        found = path_oracles.search(n, lengths, s)
        for t in range(n):
            if s == t or found.distance[t] is None:
                continue
            every = path_oracles.paths(found, s, t)
            for steps in every:
                for v in steps[1:-1]:
                    if rest := sum(exact) - exact[v]:
                        score[v] += exact[s] / rest / len(every) / (n - 2)
    return score


@pytest.mark.sweep(by="shape engine directed")
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("engine", [*ENGINES, *(f"{name} by weights" for name in WEIGHTED)])
@pytest.mark.parametrize("shape", SHAPES)
def test_against_the_definition_and_networkx(shape, engine, directed):
    engine, _, weighted = engine.partition(" ")
    operator = {"tensor": "", "auto": ""}.get(engine, "tiny" if engine == "tiny" else "depths")
    if operator and not has_kernel(operator, DEVICE):
        pytest.skip(f"engine={engine!r} has no kernels for {DEVICE}")
    n, arcs = SHAPES[shape]
    draw = random.Random(n)
    weights = [draw.randint(1, 3) for _ in arcs] if weighted else [1] * len(arcs)
    length = torch.tensor(weights, dtype=F64, device=DEVICE) if weighted else None
    states = drawn(n)
    scores = torchcent.percolation(
        edge_index(arcs), length, states=torch.tensor(states), num_nodes=n, directed=directed,
        run=torchcent.Run(engine=engine, dtype=F64)).cpu()  # fmt: skip
    exact = definition(n, path_oracles.lengths(n, arcs, weights, directed), states)
    assert_scores(scores, exact, engine)
    graph = networkx_graph(n, arcs, directed)
    for (u, v), weight in zip(arcs, weights, strict=True):
        graph[u][v]["length"] = min(weight, graph[u][v].get("length", weight))
    if sum(map(bool, states)) > 1:  # else NetworkX divides by zero
        known = nx.percolation_centrality(
            graph, states=dict(enumerate(states)), weight="length" if weighted else None
        )
        assert_scores(scores, [known[v] for v in range(n)], engine)


@pytest.mark.slow
def test_equal_states_give_betweenness():
    graph = torchcent.generate.ba(3000, 3)
    plain = torchcent.betweenness(graph, run=torchcent.Run(dtype=F64))
    for states in (torch.full((3000,), 0.25), torch.ones(3000, dtype=torch.bool)):
        same = torchcent.percolation(graph, states=states, run=torchcent.Run(dtype=F64))
        torch.testing.assert_close(same, plain, rtol=1e-5, atol=1e-12)


def test_from_one_vertex():
    """A single state: the share of the paths from there, over n - 2."""
    graph = Graph.from_edge_index(edge_index(random_graph(60, 200, seed=8)), 60, False)
    states = torch.zeros(60)
    states[7] = 3
    one = torchcent.percolation(graph, states=states, run=torchcent.Run(dtype=F64))
    own = torchcent.betweenness(
        graph, sources=[7], targets=torch.arange(60), normalized=False, run=torchcent.Run(dtype=F64)
    )
    torch.testing.assert_close(one, 2 * own / 58)
    assert one[7] == 0


@pytest.mark.parametrize("weighted", [False, True])
def test_batch(weighted):
    parts = [*SHAPES.values(), (0, []), (2, path(2)), (700, random_graph(700, 3000, seed=9))]
    index, ptr, states, expected = [], [0], [], []
    for n, arcs in parts:
        index += [(u + ptr[-1], v + ptr[-1]) for u, v in arcs]
        own = torch.tensor(drawn(n), dtype=F64)
        weight = torch.ones(len(arcs)) * 2 if weighted else None
        expected.append(
            torchcent.percolation(
                edge_index(arcs), None if weight is None else weight.to(DEVICE), states=own,
                num_nodes=n, directed=False, run=torchcent.Run(dtype=F64),
            )
        )  # fmt: skip
        states.append(own)
        ptr.append(ptr[-1] + n)
    weight = torch.ones(len(index), device=DEVICE) * 2 if weighted else None
    union = call(
        torchcent.percolation,
        edge_index(index),
        weight,
        states=torch.cat(states),
        directed=False,
        dtype=F64,
        ptr=torch.tensor(ptr, device=DEVICE),
    )
    torch.testing.assert_close(union, torch.cat(expected), rtol=1e-5, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 3000])
def test_features(n):
    arcs = edge_index(random_graph(n, 3 * n, seed=1))
    states = torch.rand(n, generator=torch.Generator().manual_seed(0))
    names = ["closeness", "percolation", "betweenness"]
    found = torchcent.node_features(
        arcs, measures=names, states=states, num_nodes=n, directed=False
    )
    for name, column in zip(names, found.unbind(1), strict=True):
        given = {"states": states} if name == "percolation" else {}
        expected = call(getattr(torchcent, name), arcs, num_nodes=n, directed=False, **given)
        torch.testing.assert_close(column, expected, rtol=1e-5, atol=1e-7)
    only = torchcent.node_features(
        arcs, measures=["percolation"], states=states, num_nodes=n, directed=False
    )
    torch.testing.assert_close(only[:, 0], found[:, 1])


def test_explain():
    plan = torchcent.explain(torchcent.generate.ba(2000, 5), measure="percolation")
    assert plan.engine == "lanes" and plan.measure == "percolation"


@given(data=st.data())
@settings(max_examples=40)
def test_networkx_backend(data):
    n = data.draw(st.integers(3, 12))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    arcs = [(u, v) for u, v in data.draw(st.lists(pairs, max_size=30)) if u != v]
    graph = networkx_graph(n, arcs, data.draw(st.booleans()))
    numbers = st.floats(0, 1, width=16)
    states = {v: data.draw(numbers) for v in graph} | {0: 0.5, 1: 0.25}
    nx.set_node_attributes(graph, {v: {"percolation": x} for v, x in states.items() if v != 2})
    for given_states in (states, None):
        expected = nx.percolation_centrality(graph, states=given_states, backend="networkx")
        actual = nx.percolation_centrality(graph, states=given_states, backend="torchcent")
        assert list(actual) == list(expected)
        assert list(actual.values()) == pytest.approx(list(expected.values()), abs=1e-12)


def test_what_networkx_refuses_is_left_to_it():
    for graph, states, said in (
        (nx.path_graph(2), None, "three nodes"),
        (nx.path_graph(4), {0: 1}, "a state for each"),
        (nx.path_graph(3), {0: 1, 1: -1, 2: 0}, "states"),
    ):
        with pytest.raises(NotImplementedError) as error:
            nx.percolation_centrality(graph, states=states, backend="torchcent")
        assert said in f"{error.value} {error.value.__cause__}"


def test_command_line(tmp_path, capsys):
    (tmp_path / "net.csv").write_text("source,target\nAda,Bob\nBob,Cleo B\nCleo B,Dan\n")
    for text in ("name,state\nAda,1.0\nBob,0.5\n", "Ada 1\nBob\t0.5\nCleo B 0\n"):
        (tmp_path / "states.csv").write_text(text)
        arguments = ["percolation", str(tmp_path / "net.csv"), "--states",
                     str(tmp_path / "states.csv"), "-o", str(tmp_path / "out.csv")]  # fmt: skip
        assert cli.main(arguments) == 0
        assert "Bob" in capsys.readouterr().out
        lines = (tmp_path / "out.csv").read_text().splitlines()
        assert {line.split(",")[0]: float(line.split(",")[2]) for line in lines[1:]} == {
            "Ada": 0, "Bob": 1, "Cleo B": 0.5, "Dan": 0,
        }  # fmt: skip
    for text, said in (("Ada,1\nEve,2\n", "'Eve' is no vertex"), ("Ada,1\nBob,x\n", ":2: 'x'")):
        (tmp_path / "states.csv").write_text(text)
        assert cli.main(arguments) == 2
        assert said in capsys.readouterr().err


ARCS = torch.tensor([[0, 1], [1, 2]])


@pytest.mark.parametrize(
    ("states", "kind", "said"),
    [
        (None, TypeError, "states must be a tensor"),
        ("ill", TypeError, "states must be a tensor"),
        (torch.ones(2), ValueError, r"states must have shape \[3\]"),
        (torch.ones(3, 1), ValueError, r"states must have shape \[3\]"),
        (torch.tensor([0.0, -1.0, 0.0]), ValueError, r"states\[1\] is -1; accepted: finite"),
        (torch.tensor([0.0, 0.0, torch.nan]), ValueError, r"states\[2\] is nan"),
        (torch.tensor([torch.inf, 0.0, 0.0]), ValueError, r"states\[0\] is inf"),
        (torch.ones(3, dtype=torch.complex64), TypeError, "states must hold real numbers"),
        (torch.ones(3).to_sparse(), ValueError, "states must be a dense tensor"),
        (torch.full((3,), 1e308, dtype=F64), ValueError, "sum of states"),
    ],
)  # fmt: skip
def test_malformed_states(states, kind, said):
    with pytest.raises(kind, match=said):
        torchcent.percolation(ARCS, states=states)


def test_malformed_features():
    with pytest.raises(ValueError, match="percolation needs states"):
        torchcent.node_features(ARCS, measures=["percolation"])
    with pytest.raises(ValueError, match="states is for percolation"):
        torchcent.node_features(ARCS, measures=["closeness"], states=torch.ones(3))


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_small(n):
    empty = torch.empty(2, 0, dtype=torch.int64)
    assert torchcent.percolation(empty, states=torch.ones(n), num_nodes=n).tolist() == [0.0] * n
    if n == 2:
        assert torchcent.percolation(ARCS[:, :1], states=torch.ones(2)).tolist() == [0.0, 0.0]
    if n == 3:
        zero = torchcent.percolation(ARCS, states=torch.zeros(3))
        assert zero.tolist() == [0.0, 0.0, 0.0]
        own = torchcent.percolation(ARCS, states=torch.tensor([0.0, 5.0, 0.0]))
        assert own.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("engine", ["auto", *ENGINES])
@pytest.mark.parametrize("factor", [1e-300, 2.0**-40, 3.0, 1e300])
def test_only_ratios_of_states_matter(engine, factor):
    """Also where float32, which lanes count in, does not hold the states."""
    if engine not in ("auto", "tensor") and not has_kernel("depths", DEVICE):
        pytest.skip(f"engine={engine!r} has no kernels for {DEVICE}")
    n, arcs = SHAPES["40"]
    states = torch.tensor(drawn(n), dtype=F64)
    options = {"num_nodes": n, "directed": False, "dtype": F64, "engine": engine}
    plain = call(torchcent.percolation, edge_index(arcs), states=states, **options)
    scaled = call(torchcent.percolation, edge_index(arcs), states=states * factor, **options)
    assert plain.max() > 0
    torch.testing.assert_close(scaled, plain, rtol=1e-5, atol=1e-12)


def test_a_converted_graph_without_states_is_refused():
    """Instead of taking every state for 1."""
    graph = nx.path_graph(4)
    nx.set_node_attributes(graph, {0: 0.5, 1: 0.25, 2: 0.125, 3: 1.0}, "percolation")
    bare = torchcent_nx.convert_from_nx(graph)
    with pytest.raises(NotImplementedError, match="without the attributes of its nodes"):
        torchcent_nx.percolation_centrality(bare)
    held = torchcent_nx.convert_from_nx(graph, preserve_node_attrs=True)
    expected = nx.percolation_centrality(graph, backend="networkx")
    assert torchcent_nx.percolation_centrality(held) == pytest.approx(expected)


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32), extra=st.integers(0, 12), rounded=st.booleans())
@pytest.mark.sweep
def test_scores_that_are_zero_are_zero(seed, extra, rounded):
    """Of leaves and of isolated vertices; no score is negative, and a second run has its bits."""
    draw = random.Random(seed)
    n = draw.randint(3, 60)
    tree = [(draw.randrange(v), v) for v in range(1, n) if draw.random() < 0.9]
    arcs = tree + [(draw.randrange(n), draw.randrange(n)) for _ in range(extra)]
    states = [draw.random() for _ in range(n)]
    if rounded:
        states = [round(x, 1) for x in states]
    index, states = edge_index(arcs), torch.tensor(states, dtype=F64)
    for reduce in ("auto", "none", "fold"):
        scores, again = (
            torchcent.percolation(
                index,
                states=states,
                num_nodes=n,
                directed=False,
                run=torchcent.Run(reduce=reduce, dtype=F64),
            )
            for _ in range(2)
        )
        assert torch.equal(scores, again)
        assert not (scores < 0).any()
        neighbours = networkx_graph(n, arcs, False)
        neighbours.remove_edges_from(list(nx.selfloop_edges(neighbours)))
        for v in range(n):
            if neighbours.degree(v) < 2:
                assert scores[v] == 0
