"""multi_search in Python: hooks, batches, arguments. Its page: test_multi_search_examples.py."""

import oracles
import pytest
import torch
from graphs import DEVICE, arc_lists, edge_index, path, star, subsets
from hypothesis import given
from hypothesis import strategies as st
from interrupt import assert_stops

from torchcent import Graph, Run, Visitor, multi_search


def built(n: int, arcs: oracles.Arcs, directed: bool = True) -> Graph:
    return Graph.from_edge_index(edge_index(arcs), n, directed)


def bytes_for(graph: Graph, lanes: int) -> int:
    """A memory limit that allows for so many lanes."""
    return graph.nbytes + lanes * (128 * graph.num_nodes + 96 * graph.num_slots) + 1


def distances(n: int, arcs: oracles.Arcs, directed: bool = True) -> list[list[int | None]]:
    return oracles.shortest_paths(n, arcs if directed else oracles.both_ways(arcs))[0]


# --- the hooks


class Record(Visitor):
    """Everything that the hooks are told, and the depths at that time."""

    def __init__(self) -> None:
        self.batches: list[list[tuple]] = []

    def note(self, *what) -> None:
        self.batches[-1].append(
            tuple(list(zip(*(t.tolist() for t in x), strict=True)) if isinstance(x, tuple) else x
                  for x in what)
        )  # fmt: skip

    def init(self, graph, sources):
        self.batches.append([])
        self.note("init", sources.tolist(), self.depth.tolist())

    def prior(self, lane, vertex, depth):
        self.note("prior", (lane, vertex), depth)

    def visit(self, lane, u, v, slot, depth):
        self.note("visit", (lane, u, v, slot, self.depth[lane, v]), depth)

    def post(self, lane, vertex, depth):
        self.note("post", (lane, vertex), depth)

    def finalize(self):
        self.note("finalize", self.depth.tolist())


def expected_record(n: int, slots: oracles.Arcs, sources: list[int]) -> list[tuple]:
    """What the hooks of one batch must be told, pair by pair and arc by arc."""
    depth = [[0 if v == source else -1 for v in range(n)] for source in sources]
    record = [("init", sources, [row.copy() for row in depth])]
    frontier = list(enumerate(sources))
    level = 0
    while frontier:
        record.append(("prior", frontier, level))
        arcs = [
            (lane, u, v, slot)
            for lane, u in frontier
            for slot, (tail, v) in enumerate(slots)
            if tail == u
        ]
        for lane, _, v, _ in arcs:
            if depth[lane][v] < 0:
                depth[lane][v] = level + 1
        record.append(("visit", [(*arc, depth[arc[0]][arc[2]]) for arc in arcs], level))
        frontier = sorted({(a[0], a[2]) for a in arcs if depth[a[0]][a[2]] == level + 1})
        level += 1
        record.append(("post", frontier, level))
    record.append(("finalize", depth))
    return record


@given(data=st.data(), lanes=st.integers(1, 4))
def test_what_the_hooks_are_told(data, lanes):
    n, arcs = data.draw(arc_lists(max_nodes=7).filter(lambda graph: graph[0] > 0))
    sources = data.draw(subsets(n))
    graph = built(n, arcs)
    visitor = Record()
    result = multi_search(
        graph, torch.tensor(sources), visitor, run=Run(memory=bytes_for(graph, lanes))
    )
    assert result is None
    slots = list(zip(*graph.to_edge_index().tolist(), strict=True))
    assert visitor.batches == [
        expected_record(n, slots, sources[begin : begin + lanes])
        for begin in range(0, len(sources), lanes)
    ]


class Avoiding(Visitor):
    """Distances on ways through none of some vertices, which may end there."""

    def __init__(self, avoided: list[int]) -> None:
        self.avoided = torch.tensor(avoided, dtype=torch.int64, device=DEVICE)

    def prior(self, lane, vertex, depth):
        return ~torch.isin(vertex, self.avoided)

    def finalize(self):
        return self.depth


@given(data=st.data())
def test_prior_chooses_where_to_go_on(data):
    n, arcs = data.draw(arc_lists().filter(lambda graph: graph[0] > 0))
    avoided = data.draw(subsets(n))
    rows = multi_search(edge_index(arcs), None, Avoiding(avoided), num_nodes=n).tolist()
    without = distances(n, [(u, v) for u, v in arcs if u not in avoided])
    assert rows == [[-1 if d is None else d for d in row] for row in without]


class Plain(Visitor):
    """No hook but the result."""

    def __init__(self, result=lambda depth: depth, merge: str = "cat") -> None:
        self.result, self.merge = result, merge

    def finalize(self):
        return self.result(self.depth)


def test_prior_may_say_true():
    class Searching(Plain):
        def prior(self, lane, vertex, depth):
            return True

    rows = multi_search(edge_index(path(4)), None, Searching())
    assert rows.tolist() == multi_search(edge_index(path(4)), None, Plain()).tolist()
    assert rows[0].tolist() == [0, 1, 2, 3]


def test_sums_of_batches():
    graph = built(9, path(9))
    for lanes in (1, 2, 9):
        visitor = Plain(lambda depth: depth.clamp(min=0).sum(0), "sum")
        sums = multi_search(graph, visitor=visitor, run=Run(memory=bytes_for(graph, lanes)))
        assert sums.tolist() == [v * (v + 1) // 2 for v in range(9)]


def test_rows_follow_the_order_of_the_sources():
    graph = built(6, path(6))
    sources = torch.tensor([4, 0, 5, 2])
    for lanes in (1, 3, 4):
        rows = multi_search(graph, sources, Plain(), run=Run(memory=bytes_for(graph, lanes)))
        assert rows[:, 5].tolist() == [1, 5, 0, 3]


def test_an_error_in_a_hook_comes_out():
    class Failing(Visitor):
        def post(self, lane, vertex, depth):
            raise RuntimeError("of my own")

    with pytest.raises(RuntimeError, match="of my own"):
        multi_search(edge_index(path(3)), None, Failing())


def test_results_stay_on_the_device_of_the_graph():
    assert multi_search(edge_index(path(3)), [0], Plain()).device.type == DEVICE.type


# --- arguments


@pytest.mark.parametrize(
    "bad, error, said",
    [
        (None, TypeError, "NoneType"),
        (Plain, TypeError, "class Plain"),
        (print, TypeError, "builtin"),
        (Plain(merge="max"), ValueError, "merge.*cat, sum.*max"),
    ],
)
def test_visitors(bad, error, said):
    with pytest.raises(error, match=f"visitor.*{said}"):
        multi_search(edge_index(path(3)), None, bad)


@pytest.mark.parametrize(
    "bad, error, said",
    [
        ([3], ValueError, "vertex 3"),
        ([0, 0], ValueError, "more than once"),
        ([], ValueError, "empty"),
        (torch.tensor([0.5]), TypeError, "float32"),
        (1, ValueError, "one-dimensional"),
    ],
)
def test_sources(bad, error, said):
    with pytest.raises(error, match=f"sources.*{said}"):
        multi_search(edge_index(path(3)), bad, Plain())


def test_other_arguments():
    arcs = edge_index(path(3))
    with pytest.raises(TypeError, match="edge_index.*int"):
        multi_search(3, None, Plain())
    with pytest.raises(ValueError, match="num_nodes=2"):
        multi_search(arcs, None, Plain(), num_nodes=2)
    with pytest.raises(TypeError, match="directed.*'no'"):
        multi_search(arcs, None, Plain(), directed="no")
    with pytest.raises(ValueError, match="memory.*-1"):
        multi_search(arcs, None, Plain(), run=Run(memory=-1))
    with pytest.raises(TypeError, match="progress.*1"):
        multi_search(arcs, None, Plain(), run=Run(progress=1))


@pytest.mark.parametrize(
    "bad", [1, "yes", torch.ones(5, dtype=torch.bool), torch.ones(3), torch.tensor(True)]
)
def test_results_of_prior(bad):
    class Strange(Visitor):
        def prior(self, lane, vertex, depth):
            return bad

    with pytest.raises(ValueError, match=r"visitor.prior must return.*\[3\].*got"):
        multi_search(edge_index(path(3)), None, Strange())


@pytest.mark.parametrize("bad", [torch.tensor(1), torch.ones(2), torch.ones(4, 3)])
def test_shapes_of_results(bad):
    with pytest.raises(ValueError, match="visitor.finalize.*3 lanes.*got shape"):
        multi_search(edge_index(path(3)), None, Plain(lambda _: bad))


def test_types_of_results():
    with pytest.raises(TypeError, match="visitor.finalize.*list"):
        multi_search(edge_index(path(3)), None, Plain(lambda _: [1, 2, 3]))


def test_progress(capsys):
    multi_search(edge_index(path(5)), None, Plain(), run=Run(progress=True))
    said = capsys.readouterr().err
    assert "Plain" in said and "5/5" in said
    multi_search(edge_index(path(5)), None, Plain(), run=Run(progress=False))
    assert capsys.readouterr().err == ""


# --- memory and Ctrl-C


class Hungry(Record):
    def __init__(self, size) -> None:
        super().__init__()
        self.size = size

    def bytes_per_source(self, graph):
        return self.size


def test_batches_follow_the_memory():
    graph = built(8, star(7))
    for size, lanes in ((0, 4), (bytes_for(graph, 1) - graph.nbytes, 2), (10**6, 0)):
        visitor = Hungry(size)
        if lanes:
            multi_search(graph, visitor=visitor, run=Run(memory=bytes_for(graph, 4) + 1))
            assert [len(batch[0][1]) for batch in visitor.batches] == [lanes] * (8 // lanes)
        else:
            with pytest.raises(MemoryError, match=f"multi_search.*memory={bytes_for(graph, 4)}"):
                multi_search(graph, visitor=visitor, run=Run(memory=bytes_for(graph, 4)))
    for bad in (-1, 0.5, None):
        with pytest.raises(ValueError, match="visitor.bytes_per_source.*got"):
            multi_search(graph, visitor=Hungry(bad))


COUNTING = """
class Counting(torchcent.Visitor):
    def visit(self, lane, u, v, slot, depth):
        self.seen = v.numel()

graph = torchcent.Graph.from_edge_index(torchcent.generate.rmat(16, 8))
"""


@pytest.mark.slow
def test_interrupt():
    assert_stops(
        COUNTING,
        "torchcent.multi_search(graph, None, Counting(), run=torchcent.Run(progress=False))",
    )
