"""Graph.save and Graph.load: what survives, and that no file is believed."""

import copy
import io
import os
import pickle
import stat
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tuning import Tuning, tuned

import torchcent
from torchcent import Graph, generate

EDGES = generate.ba(60, 3, seed=1)
LENGTHS = 1 + torch.arange(EDGES.shape[1]) % 7 / 4
GRAPHS = {
    "directed": lambda: Graph.from_edge_index(EDGES),
    "undirected": lambda: Graph.from_edge_index(EDGES, directed=False),
    "weighted": lambda: Graph.from_edge_index(EDGES, edge_weight=LENGTHS),
    "weighted, undirected": lambda: Graph.from_edge_index(
        EDGES, directed=False, edge_weight=LENGTHS
    ),
    "batch": lambda: Graph.from_edge_index(
        torch.tensor([[0, 1, 3], [1, 2, 4]]), ptr=torch.tensor([0, 0, 3, 5, 6]), directed=False
    ),
    "no arcs": lambda: Graph.from_edge_index(torch.empty(2, 0, dtype=torch.int64), 4),
    "nothing": lambda: Graph.from_edge_index(torch.empty(2, 0, dtype=torch.int64), 0),
    "large": lambda: Graph.from_edge_index(generate.rmat(13, 8, seed=3), directed=False),
}


def same(ours: Graph, theirs: Graph) -> None:
    assert ours.directed == theirs.directed and ours.num_graphs == theirs.num_graphs
    for name in ("rowptr", "col", "weight", "ptr"):
        one, other = getattr(ours, name), getattr(theirs, name)
        assert (one is None) == (other is None), name
        assert one is None or (one.dtype == other.dtype and torch.equal(one, other)), name


@pytest.mark.sweep
@pytest.mark.parametrize("name", GRAPHS)
def test_round_trip(name: str, tmp_path: Path) -> None:
    graph, path = GRAPHS[name](), tmp_path / "graph.pt"
    graph.save(path)
    found = Graph.load(str(path))
    same(found, graph)
    assert found.slot.tolist() == list(range(graph.num_slots))
    same(found.reversed(), graph.reversed())
    assert torch.equal(torchcent.betweenness(found), torchcent.betweenness(graph))
    if graph.num_slots:
        edges = torchcent.edge_betweenness(found)
        back = found.reversed()
        assert edges.shape == (graph.num_slots,)
        assert torch.equal(back.to_edge_index()[:, back.slot], graph.to_edge_index().flip(0))
    found.save(path)  # the file that it is mapped from
    same(Graph.load(path), graph)


def test_the_arrays_stay_in_the_file(tmp_path: Path) -> None:
    graph, path = GRAPHS["large"](), tmp_path / "graph.pt"
    graph.save(path)
    assert os.path.getsize(path) < graph.rowptr.nbytes + graph.col.nbytes + 4096
    found = Graph.load(path)
    where = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
    ranges = [
        tuple(int(x, 16) for x in line[0].split("-")) for line in where if path.name in line[-1]
    ]
    assert all(
        any(
            low <= part.data_ptr() and part.data_ptr() + part.nbytes <= high for low, high in ranges
        )
        for part in (found.rowptr, found.col)
    )
    assert torch.load(path)["format"] == "torchcent.Graph"


def test_an_older_file_is_replaced_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "graph.pt"
    GRAPHS["directed"]().save(path)
    path.chmod(0o640)

    def broken(content: object, file: Any) -> None:
        file.write(b"PK")
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(torch, "save", broken)
        GRAPHS["large"]().save(path)
    same(Graph.load(path), GRAPHS["directed"]())
    GRAPHS["large"]().save(path)
    assert os.listdir(tmp_path) == ["graph.pt"] and stat.S_IMODE(path.stat().st_mode) == 0o640
    same(Graph.load(path), GRAPHS["large"]())
    with pytest.raises(FileNotFoundError, match="no such directory"):
        GRAPHS["directed"]().save(tmp_path / "not" / "there.pt")


def stored(**changed: object) -> dict[str, object]:
    """A batch of a triangle of length 1 and an edge, as it is stored."""
    parts = {
        "format": "torchcent.Graph",
        "version": 1,
        "rowptr": torch.tensor([0, 2, 4, 6, 7, 8]),
        "col": torch.tensor([1, 2, 0, 2, 0, 1, 4, 3], dtype=torch.int32),
        "weight": torch.ones(8, dtype=torch.float64),
        "ptr": torch.tensor([0, 3, 5]),
        "directed": False,
    }
    return {name: part for name, part in (parts | changed).items() if part is not None}


def int32(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32)


def weights(slot: int, value: float) -> torch.Tensor:
    made = torch.ones(8, dtype=torch.float64)
    made[slot] = value
    return made


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (stored(rowptr=torch.tensor([0, 2, 4, 6, 7, 9])), "rowptr"),
        (stored(rowptr=torch.tensor([1, 2, 4, 6, 7, 8])), "rowptr"),
        (stored(rowptr=torch.tensor([0, 2, 1, 6, 7, 8])), "rowptr decreases.* at row 1"),
        (stored(rowptr=torch.tensor([0, 10**9, 4, 6, 7, 8])), "rowptr"),
        (stored(rowptr=torch.tensor([0, -5, 4, 6, 7, 8])), "rowptr"),
        (stored(rowptr=torch.empty(0, dtype=torch.int64)), "sizes"),
        (stored(col=int32(1, 2, 0, 2, 0, 5, 4, 3)), r"col\[5\] is not a vertex"),
        (stored(col=int32(1, 2, 0, 2, -1, 1, 4, 3)), r"col\[4\] is not a vertex"),
        (stored(col=int32(2, 1, 0, 2, 0, 1, 4, 3)), r"col\[1\] is not above"),
        (stored(col=int32(1, 1, 0, 2, 0, 1, 4, 3)), r"col\[1\] is not above"),
        (stored(col=int32(0, 2, 0, 2, 0, 1, 4, 3)), r"col\[0\] is a self-loop"),
        (stored(col=int32(1, 2, 0, 2, 0, 3, 4, 3)), "slot 5 leads to another graph"),
        (stored(col=int32(1, 3, 0, 2, 0, 1, 4, 3), ptr=None), "without its reverse"),
        (stored(weight=weights(3, 0.0)), r"weight\[3\]"),
        (stored(weight=weights(3, -1.0)), r"weight\[3\]"),
        (stored(weight=weights(7, float("nan"))), r"weight\[7\]"),
        (stored(weight=weights(0, float("inf"))), r"weight\[0\]"),
        (stored(weight=weights(2, 1.5)), "reverse of the same weight"),
        (stored(weight=torch.full((8,), 1e308, dtype=torch.float64)), "beyond float64"),
        (stored(weight=torch.ones(7, dtype=torch.float64)), "sizes"),
        (stored(weight=torch.ones(8)), "FloatStorage"),
        (stored(col=torch.tensor([1, 2, 0, 2, 0, 1, 4, 3])), "col is not a tensor of torch.int32"),
        (stored(col=None), "col is not a tensor"),
        (stored(rowptr=[0, 2]), "rowptr is not a tensor"),
        (stored(col=torch.zeros(1, dtype=torch.int32).expand(2**40)), "col is not one array"),
        (stored(col=int32(1, 2, 0, 2, 0, 1, 4, 3).to_sparse()), "not a file of Graph.save"),
        (stored(ptr=torch.tensor([0, 3])), "ptr does not lead from 0 to 5"),
        (stored(ptr=torch.tensor([0, 6, 5])), "ptr does not lead"),
        (stored(ptr=torch.tensor([0, -1, 5])), "ptr does not lead"),
        (stored(ptr=torch.empty(0, dtype=torch.int64)), "ptr does not lead"),
        (stored(directed=1), "'directed'"),
        (stored(version=4), "version 4; known: 1, 2, 3"),
        (stored(format="other"), "format"),
        (stored(more="x" * 2**17), "bytes of values beside"),
        ([1, 2], "format"),
        (torch.eye(3), "FloatStorage"),
        ({"format": "torchcent.Graph", "rowptr": bytearray(3)}, "bytearray"),
        (EDGES, "format"),
    ],
)  # fmt: skip
def test_what_is_no_graph_is_refused(content: object, said: str, tmp_path: Path) -> None:
    path = str(tmp_path / "graph.pt")
    torch.save(content, path)
    with pytest.raises(ValueError, match=said) as caught:
        Graph.load(path)
    assert path in str(caught.value)


def test_the_stored_example_is_a_graph(tmp_path: Path) -> None:
    torch.save(stored(), tmp_path / "graph.pt")
    arcs = torch.tensor([[0, 1, 0, 3], [1, 2, 2, 4]])
    expected = Graph.from_edge_index(
        arcs, directed=False, edge_weight=torch.ones(4), ptr=torch.tensor([0, 3, 5])
    )
    same(Graph.load(tmp_path / "graph.pt"), expected)


@pytest.mark.parametrize("threads", [1, 3])
def test_faults_are_found_on_all_threads(threads: int, tmp_path: Path) -> None:
    graph = GRAPHS["large"]()
    assert graph.num_slots > 2**16
    n, m = graph.num_nodes, graph.num_slots
    check = torch.ops.torchcent.stored_fault
    chance = np.random.default_rng(threads)
    for key in chance.integers(0, 2**63, 4).tolist():
        given = (graph.rowptr, graph.col, None, torch.tensor([0, n]), True, key, threads)
        assert check(*given).tolist() == [0, 0]
    weight = torch.rand(m, dtype=torch.float64) + 0.5
    assert check(graph.rowptr, graph.col, weight, None, True, 1, threads).tolist() == [7, 0]
    assert check(graph.rowptr, graph.col, weight, None, False, 1, threads).tolist() == [0, 0]
    weight = torch.minimum(weight, weight[graph.reverse_slot])
    assert check(graph.rowptr, graph.col, weight, None, True, 1, threads).tolist() == [0, 0]
    for slot in chance.integers(0, m, 20).tolist():
        col, bent = graph.col.clone(), weight.clone()
        col[slot] = n
        assert check(graph.rowptr, col, None, None, True, 5, threads).tolist() == [2, slot]
        bent[slot] *= 1 + 2**-52
        assert check(graph.rowptr, graph.col, bent, None, True, 5, threads).tolist() == [7, 0]
        bent[slot] = -bent[slot]
        assert check(graph.rowptr, graph.col, bent, None, False, 5, threads).tolist() == [5, slot]


def no_graph(path: str) -> bool:
    """Whether a file is refused; what is loaded must be a graph."""
    try:
        graph = Graph.load(path)
    except (ValueError, MemoryError) as error:
        assert path in str(error)
        return True
    check_definition(graph)
    return False


def check_definition(graph: Graph) -> None:
    rowptr, col = graph.rowptr.tolist(), graph.col.tolist()
    arcs = {}
    for v in range(graph.num_nodes):
        row = col[rowptr[v] : rowptr[v + 1]]
        assert row == sorted(set(row)) and v not in row
        assert all(0 <= w < graph.num_nodes for w in row)
        for at, w in enumerate(row, rowptr[v]):
            arcs[v, w] = 1.0 if graph.weight is None else float(graph.weight[at])
    assert len(arcs) == len(col) and all(0 < x < float("inf") for x in arcs.values())
    assert graph.directed or all(arcs.get((w, v)) == x for (v, w), x in arcs.items())
    if graph.ptr is not None:
        part = graph.batch.tolist()
        assert all(part[v] == part[w] for v, w in arcs)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_damaged_files(data: st.DataObject, tmp_path: Path) -> None:
    name = data.draw(st.sampled_from(["weighted, undirected", "batch", "directed"]))
    path = str(tmp_path / "graph.pt")
    GRAPHS[name]().save(path)
    content = bytearray(Path(path).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    Path(path).write_bytes(content)
    no_graph(path)


def test_other_files(tmp_path: Path) -> None:
    path = tmp_path / "graph.pt"
    with pytest.raises(FileNotFoundError, match="no such file"):
        Graph.load(path)
    with pytest.raises(ValueError, match="a directory"):
        Graph.load(tmp_path)
    for content in (b"", b"PK", b"1 2\n2 3\n"):
        path.write_bytes(content)
        assert no_graph(str(path))
    GRAPHS["large"]().save(path)
    packed = io.BytesIO()
    with zipfile.ZipFile(path) as there, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as here:
        for entry in there.infolist():
            here.writestr(entry.filename, there.read(entry))
    path.write_bytes(packed.getvalue())
    with pytest.raises(ValueError, match="is compressed"):
        Graph.load(path)
    for wrong in (3, None, b"graph.pt", "", "a\0b"):
        with pytest.raises((TypeError, ValueError), match="path"):
            Graph.load(wrong)
        with pytest.raises((TypeError, ValueError), match="path"):
            GRAPHS["directed"]().save(wrong)


# --- pickles


def written(content: object) -> io.BytesIO:
    buffer = io.BytesIO()
    torch.save(content, buffer)
    buffer.seek(0)
    return buffer


@pytest.mark.sweep
@pytest.mark.parametrize("name", GRAPHS)
def test_torch_load_reads_a_graph_by_default(name: str) -> None:
    graph = GRAPHS[name]()
    found = torch.load(written({"graph": graph, "more": 3}))["graph"]  # weights_only=True
    assert found == graph and hash(found) == hash(graph) and found.device == graph.device
    assert torch.equal(found.slot, graph.slot)
    assert torch.equal(torchcent.edge_betweenness(found), torchcent.edge_betweenness(graph))
    assert copy.deepcopy(graph) == pickle.loads(pickle.dumps(graph)) == graph
    with pytest.raises(AttributeError, match="frozen"):
        found.directed = not graph.directed


def forged(state: object) -> Graph:
    """What is pickled by :func:`written_forged` as a Graph of this state."""
    made = Graph.__new__(Graph)
    vars(made)["state"] = state
    return made


def written_forged(content: object) -> io.BytesIO:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Graph, "__getstate__", lambda graph: vars(graph)["state"])
        return written(content)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (stored(rowptr=torch.tensor([0, 2, 4, 6, 7, 9])), "rowptr"),
        (stored(rowptr=torch.tensor([1, 2, 4, 6, 7, 8])), "rowptr"),
        (stored(rowptr=torch.tensor([0, 10**9, 4, 6, 7, 8])), "rowptr"),
        (stored(rowptr=torch.tensor([0, -5, 4, 6, 7, 8])), "rowptr"),
        (stored(rowptr=torch.tensor([0, 2, 1, 6, 7, 8])), "rowptr decreases.* at row 1"),
        (stored(col=int32(1, 2, 0, 2, 0, 5, 4, 3)), r"col\[5\] is not a vertex"),
        (stored(col=int32(1, 2, 0, 2, -1, 1, 4, 3)), r"col\[4\] is not a vertex"),
        (stored(col=int32(2, 1, 0, 2, 0, 1, 4, 3)), r"col\[1\] is not above"),
        (stored(col=int32(0, 2, 0, 2, 0, 1, 4, 3)), r"col\[0\] is a self-loop"),
        (stored(col=int32(1, 2, 0, 2, 0, 3, 4, 3)), "slot 5 leads to another graph"),
        (stored(col=int32(1, 3, 0, 2, 0, 1, 4, 3), ptr=None), "without its reverse"),
        (stored(weight=weights(3, 0.0)), r"weight\[3\]"),
        (stored(weight=weights(7, float("nan"))), r"weight\[7\]"),
        (stored(weight=weights(2, 1.5)), "reverse of the same weight"),
        (stored(weight=torch.full((8,), 1e308, dtype=torch.float64)), "beyond float64"),
        (stored(weight=torch.ones(8)), "weight is not a tensor of torch.float64"),
        (stored(col=torch.zeros(1, dtype=torch.int32).expand(2**40)), "col is not one array"),
        (stored(col=int32(1, 2, 0, 2, 0, 1, 4, 3).to_sparse()), "dense"),
        (stored(ptr=torch.tensor([0, 6, 5])), "ptr does not lead"),
        (stored(rowptr=[0, 2]), "rowptr is not a tensor"),
        (stored(directed=1), "'directed'"),
        (stored(version=4), "version 4"),
        (stored(slot=torch.tensor([0, 8])), "no such slot"),
        (stored(slot=torch.tensor([-2])), "no such slot"),
        (stored(slot=torch.tensor([1.0])), "slot is not one array"),
        (stored(slot=[1]), "slot is not one array"),
        (stored(slot=torch.tensor([1]).expand(2**40)), "slot is not one array"),
        ({"rowptr": torch.tensor([0])}, "format"),
        ({}, "format"),
        ((1, 2), "format"),
    ],
)  # fmt: skip
def test_what_is_no_pickled_graph_is_refused(
    content: object, said: str, compiled: bool, tuning: Tuning
) -> None:
    """With compiled code and without; nothing of it is believed."""
    if not compiled:
        tuning(compiled=False)
    buffer = written_forged(forged(content))
    with pytest.raises(ValueError, match=said):
        torch.load(buffer)


def test_a_pickle_does_not_reach_into_a_graph() -> None:
    """Neither by other tensors of the same memory, nor by restoring it twice."""
    state = stored(slot=torch.tensor([0, 1, 4, -1]))
    found = torch.load(written_forged([forged(state), state["col"], state["slot"]]))
    graph, col, slot = found
    col.fill_(10**6)
    slot.fill_(10**6)
    check_definition(graph)
    assert graph.slot.tolist() == [0, 1, 4, -1]
    with pytest.raises(ValueError, match="cannot be restored twice"):
        graph.__setstate__(stored())
    with pytest.raises(TypeError, match="is not how a graph is made"):
        Graph(*torch.load(written([graph.rowptr, graph.col, graph.slot, True])))


def test_checks_without_compiled_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "graph.pt"
    for make in GRAPHS.values():
        graph = make()
        graph.save(path)
        with monkeypatch.context() as patched:
            tuned(patched)(compiled=False)
            found = Graph.load(path)
        same(found, graph)
