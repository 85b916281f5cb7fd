"""The examples of docs/multi_search.md in Python: values, bits, memory."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import networkx as nx
import oracles
import pytest
import torch
from graphs import ASSORTED, DEVICE, arc_lists, edge_index, networkx_graph, subsets
from hypothesis import given
from hypothesis import strategies as st
from resident import GIVING_BACK
from test_multi_search import built, bytes_for, distances

import torchcent
from torchcent import multi_search

PAGE = (Path(__file__).parents[1] / "docs" / "multi_search.md").read_text()
BLOCKS = re.findall(r"^```(python|pycon)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
EXAMPLES = [text for kind, text in BLOCKS if kind == "python" and "torchcent.Visitor" in text]
SHOWN = [text for kind, text in BLOCKS if kind == "pycon"]
PAGE_NAMES: dict = {}
for example in EXAMPLES:
    exec(example, PAGE_NAMES)
HopCounts, Betweenness = (PAGE_NAMES[name] for name in ("HopCounts", "Betweenness"))


class Reachability(torchcent.Visitor):
    """Row i: the vertices that source i reaches, itself included."""

    def finalize(self):
        return self.depth >= 0


def test_examples_are_short():
    assert len(EXAMPLES) == 2
    for example in EXAMPLES:
        visitor = example[example.index("class") :].strip().splitlines()
        assert len(visitor) < 20


def test_examples_print_what_the_page_says():
    assert SHOWN
    for number, shown in enumerate(SHOWN):
        test = doctest.DocTestParser().get_doctest(shown, PAGE_NAMES, f"page {number}", None, 0)
        assert test.examples
        assert doctest.DocTestRunner().run(test).failed == 0


@given(graph=arc_lists(), directed=st.booleans(), k=st.integers(0, 4), lanes=st.integers(1, 4))
def test_hop_counts(graph, directed, k, lanes):
    n, arcs = graph
    expected = [[row.count(h) for h in range(k + 1)] for row in distances(n, arcs, directed)]
    ours = built(n, arcs, directed)
    counts = multi_search(
        ours, visitor=HopCounts(k), run=torchcent.Run(memory=bytes_for(ours, lanes))
    )
    assert counts.tolist() == expected
    assert counts.shape == (n, k + 1)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", ASSORTED)
def test_hop_counts_of_networkx(name, directed):
    n, arcs = ASSORTED[name]
    theirs = networkx_graph(n, arcs, directed)
    within = torch.tensor(
        [len(nx.single_source_shortest_path_length(theirs, v, cutoff=2)) for v in range(n)]
    )
    counts = multi_search(edge_index(arcs), None, HopCounts(2), num_nodes=n, directed=directed)
    assert torch.equal(counts.sum(1).cpu(), within)


@given(data=st.data(), directed=st.booleans(), lanes=st.integers(1, 3))
def test_reachability(data, directed, lanes):
    n, arcs = data.draw(arc_lists().filter(lambda graph: graph[0] > 0))
    sources = data.draw(subsets(n))
    ours = built(n, arcs, directed)
    rows = multi_search(
        ours,
        torch.tensor(sources),
        Reachability(),
        run=torchcent.Run(memory=bytes_for(ours, lanes)),
    ).tolist()
    theirs = networkx_graph(n, arcs, directed)
    for source, row in zip(sources, rows, strict=True):
        reached = {v for v in range(n) if row[v]}
        assert reached == nx.descendants(theirs, source) | {source}


@given(data=st.data(), lanes=st.integers(1, 4))
def test_betweenness(data, lanes):
    n, arcs = data.draw(arc_lists().filter(lambda graph: graph[0] > 0))
    sources = data.draw(subsets(n))
    expected = oracles.betweenness(
        n, arcs, directed=True, normalized=False, sources=sources, targets=range(n)
    )
    ours = built(n, arcs)
    sums = multi_search(
        ours, torch.tensor(sources), Betweenness(), run=torchcent.Run(memory=bytes_for(ours, lanes))
    )
    assert sums.tolist() == pytest.approx([float(score) for score in expected], rel=1e-12)


@pytest.mark.parametrize("name", ASSORTED)
def test_betweenness_is_the_built_in_one(name):
    n, arcs = ASSORTED[name]
    ours = built(n, arcs, directed=False)
    sums = multi_search(ours, visitor=Betweenness())
    built_in = torchcent.betweenness(
        ours, normalized=False, run=torchcent.Run(engine="tensor", dtype=torch.float64)
    )
    torch.testing.assert_close(sums / 2, built_in, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_graphs_without_arcs(n):
    graph = built(n, [])
    assert multi_search(graph, visitor=Reachability()).tolist() == torch.eye(n).bool().tolist()
    assert multi_search(graph, visitor=HopCounts(2)).tolist() == [[1, 0, 0]] * n
    assert multi_search(graph, visitor=Betweenness()).tolist() == [0.0] * n


@pytest.mark.slow
def test_bits_do_not_depend_on_the_threads(threads):
    graph = torchcent.generate.rmat(9, 8, seed=1).to(DEVICE)
    scores = []
    for count in (1, 2, 3):
        torch.set_num_threads(count)
        scores.append(
            multi_search(graph, visitor=Betweenness(), run=torchcent.Run(memory=200_000_000))
        )
    assert torch.equal(scores[0], scores[1]) and torch.equal(scores[0], scores[2])


PEAK = """
import sys, torch, torchcent
from torchcent import multisearch
exec(sys.stdin.read())  # the examples

def status(field):
    line = next(line for line in open("/proc/self/status") if line.startswith(field))
    return int(line.split()[1]) * 1024

kind, lanes, side = sys.argv[1], 4, 1500
if kind == "star":  # out of the hub
    n, row, col = 400_001, torch.zeros(400_000, dtype=torch.int64), torch.arange(1, 400_001)
else:  # one source, all arcs between two sides
    n = 1 + 2 * side
    left = torch.arange(1, side + 1)
    row = torch.cat([torch.zeros_like(left), left.repeat_interleave(side)])
    col = torch.cat([left, torch.arange(side + 1, n).repeat(side)])
rowptr = torch.cat([torch.zeros(1, dtype=torch.int64), torch.bincount(row, minlength=n).cumsum(0)])
graph = torchcent.Graph(rowptr, col.int(), row, True, _trusted=True)
torchcent.multi_search(torch.tensor([[0], [1]]), None, Betweenness())
sources = torch.zeros(lanes, dtype=torch.int64)  # each lane the whole graph
before = status("VmRSS")
multisearch._searched(graph, sources, Betweenness())
print(status("VmHWM") - before, lanes * (128 * n + 96 * graph.num_slots))
"""


@pytest.mark.slow
@pytest.mark.sweep(cases=1)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/self/status")
@pytest.mark.parametrize("kind", ["star", "bipartite"])
def test_memory_stays_within_the_forecast(kind):
    run = subprocess.run(
        [sys.executable, "-c", PEAK, kind],
        input="\n".join(EXAMPLES),
        capture_output=True,
        text=True,
        check=True,
        env=GIVING_BACK,
    )
    taken, forecast = map(int, run.stdout.split())
    assert forecast / 8 < taken < forecast
