"""AddEncodings: several transforms on one graph, data sets, their files, and metapaths."""

import copy
import functools
import itertools
import multiprocessing
import pickle
import signal
import subprocess
import sys
import time

import networkx as nx
import pytest
import torch
from graphs import DEVICE

import torchcent

pytest.importorskip("torch_geometric")
from torch_geometric.data import Batch, Data, HeteroData, InMemoryDataset
from torch_geometric.loader import DataLoader
from torch_geometric.transforms import AddMetaPaths, Compose

from torchcent.transforms import (
    AddCentrality,
    AddClusters,
    AddEdgeCentrality,
    AddEncodings,
    AddLandmarkDistances,
    AddPairFeatures,
    AddRandomWalkEncoding,
    AddShortestPathEncoding,
)

ALL = [
    AddCentrality(["closeness", "betweenness", "degree"]),
    AddCentrality("harmonic", attr_name=None, normalized=False),
    AddClusters(),
    AddRandomWalkEncoding(5),
    AddLandmarkDistances(3, selection="random"),
    AddEdgeCentrality(),
    AddPairFeatures(),
    AddShortestPathEncoding(cutoff=3),
]
NAMES = (
    "centrality", "x", "cluster", "random_walk_pe", "landmark_distance", "edge_centrality",
    "edge_features", "spd", "spd_index",
)  # fmt: skip
SECONDS = 120


def graphs(count=12, seed=0):
    """Both directions of each edge; the first without edges."""
    made = []
    for number in range(count):
        n = 3 + number % 9
        arcs = nx.DiGraph(nx.gnp_random_graph(n, 0.35 if number else 0, seed=seed + number)).edges
        index = torch.tensor(list(arcs), dtype=torch.int64).reshape(-1, 2).T.contiguous()
        data = Data(edge_index=index, num_nodes=n, x=torch.ones(n, 2), y=torch.tensor([number]))
        data.edge_weight = 1.0 + (index.sum(0) % 3) if index.numel() else torch.ones(0)
        made.append(data.to(DEVICE))
    return made


def same(one, other, names=NAMES):
    return all(torch.equal(one[name], other[name]) for name in names)


@functools.cache
def one_by_one():
    return [Compose(ALL)(copy.copy(data)) for data in graphs()]


FUNCTIONS = {
    "heat_kernel_encoding": ({"times": [0.5, 2]}, "heat_encoding"),
    "spectral_density": ({"bins": 4}, "density_encoding"),
    "electrostatic_encoding": ({}, "electrostatic_encoding"),
    "random_walk_pairs": ({"powers": 3, "max_nodes": 12}, "random_walk_pairs"),
    "heat_kernel_pairs": ({"times": 1.5}, "heat_pairs"),
    "resistance_pairs": ({"padding": -1}, "resistance_pairs"),
    "forman_curvature": ({}, "edge_curvature"),
    "ollivier_ricci_curvature": ({}, "edge_curvature"),
    "resistance_curvature": ({}, "edge_curvature"),
    "edge_substructure_counts": ({"patterns": "cycle3"}, "edge_substructure_counts"),
    "substructure_counts": ({"patterns": "cycle3"}, "substructure_counts"),
    "edge_betweenness": ({"normalized": False}, "edge_centrality"),
    "wl_colors": ({"iterations": 1}, "wl_color"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_names_of_functions(name):
    """A name that the manual has is enough, and values are those of the function."""
    arguments, attribute = FUNCTIONS[name]
    for data in graphs()[1:4]:
        known = getattr(torchcent, name)(data.edge_index, num_nodes=data.num_nodes, **arguments)
        assert torch.equal(AddEncodings([(name, arguments)])(data)[attribute], known)


@pytest.mark.parametrize("name", ["personalized_pagerank", "heat_kernel", "shortest_path_pairs"])
def test_names_of_functions_of_sparse_pairs(name):
    for data in graphs()[1:4]:
        known = getattr(torchcent, name)(data.edge_index, num_nodes=data.num_nodes)
        if name == "shortest_path_pairs":
            pairs, value, attribute = known.pairs, known.distance.long(), "spd"
        else:
            source = torch.repeat_interleave(known.ptr.diff())
            pairs, value, attribute = torch.stack([known.target, source]), known.value, name
        data = AddEncodings([name])(data)
        assert torch.equal(data[f"{attribute}_index"], pairs)
        assert torch.equal(data[attribute], value)


def test_a_kind_of_the_function_goes_before_that_of_its_name():
    data = graphs()[5]
    known = torchcent.resistance_pairs(data.edge_index, kind="commute", num_nodes=data.num_nodes)
    found = AddEncodings([("resistance_pairs", {"kind": "commute"})])(data)
    assert torch.equal(found.commute_pairs, known)
    assert "commute" in repr(AddEncodings([("resistance_pairs", {"kind": "commute"})]))


def test_values_are_those_of_each_transform():
    add = AddEncodings(ALL)
    assert all(same(add(data), known) for data, known in zip(graphs(), one_by_one(), strict=True))
    batch = Batch.from_data_list(graphs())
    together, known = add(batch), Compose(ALL)(batch)
    assert same(together, known) and "spd" not in batch
    for part, alone in zip(together.to_data_list(), one_by_one(), strict=True):
        assert same(part, alone)


def test_the_graph_is_built_once(monkeypatch):
    built = []
    build = torchcent.Graph.from_edge_index
    monkeypatch.setattr(
        torchcent.Graph, "from_edge_index", lambda *a, **o: built.append(1) or build(*a, **o)
    )
    data = graphs()[5]
    AddEncodings([*ALL[:5], ALL[7]])(data)
    assert len(built) == 1
    AddEncodings([AddCentrality(), AddClusters(directed=False)])(data)
    assert len(built) == 3


def test_weights():
    """Lengths and strengths of one attribute; those of 0 are no edges, and no lengths."""
    walk, near = AddRandomWalkEncoding(4, edge_weight="edge_weight"), AddCentrality(
        "closeness", edge_weight="edge_weight"
    )  # fmt: skip
    data = graphs()[7]
    assert same(AddEncodings([walk, near])(data), Compose([walk, near])(data), NAMES[3:4])
    assert same(AddEncodings([walk, near])(data), near(data), NAMES[:1])
    data.edge_weight[0] = 0
    assert same(AddEncodings([walk])(data), walk(data), NAMES[3:4])
    with pytest.raises(ValueError, match="edge_weight"):
        AddEncodings([walk, near])(data)


def test_names():
    add = AddEncodings([
        "centrality", ("random_walk_encoding", {"walk_length": 3}),
        ("AddShortestPathEncoding", {"cutoff": 2}),
    ])  # fmt: skip
    assert repr(add) == repr(
        AddEncodings([AddCentrality(), AddRandomWalkEncoding(3), AddShortestPathEncoding(cutoff=2)])
    )
    assert repr(pickle.loads(pickle.dumps(add))) == repr(add)


# Data sets.


def test_data_sets():
    data = graphs()
    for size in (1, 5, 100):
        found = list(AddEncodings(ALL).encode(data, batch_size=size))
        assert all(same(*pair) for pair in zip(found, one_by_one(), strict=True))
        assert [int(one.y) for one in found] == list(range(12))
    assert "centrality" not in data[0] and data[0].x.shape[1] == 2
    tensors = list(AddEncodings(ALL).encode(iter(data), batch_size=5, as_tensors=True))
    assert len(tensors) == 3 and set(tensors[0]) == set(NAMES)
    assert same(tensors[1], Batch.from_data_list(one_by_one()[5:10]))
    # Each has memory of its own, so that saving one does not save all.
    assert found[3].spd.untyped_storage().nbytes() == found[3].spd.nbytes
    assert list(AddEncodings(ALL).encode([])) == []


class Counting:
    """A transform that counts the graphs that it computes."""

    def __init__(self, monkeypatch):
        self.graphs = 0
        forward = AddEncodings.forward

        def counted(add, data):
            self.graphs += data.num_graphs
            return forward(add, data)

        monkeypatch.setattr(AddEncodings, "forward", counted)

    def since(self):
        count, self.graphs = self.graphs, 0
        return count


def test_files(tmp_path, monkeypatch):
    counting, folder = Counting(monkeypatch), tmp_path / "cache"
    options = {"cache": folder, "batch_size": 5}
    for again in (12, 0):
        found = list(AddEncodings(ALL).encode(graphs(), **options))
        assert all(same(*pair) for pair in zip(found, one_by_one(), strict=True))
        assert counting.since() == again
    assert len(list(folder.iterdir())) == 3
    for path in folder.iterdir():
        torch.load(path, weights_only=True)
    tensors = list(AddEncodings(ALL).encode(graphs(), as_tensors=True, **options))
    assert counting.since() == 0 and tensors[0]["spd_index"].shape[0] == 2
    # What was changed, and nothing else.
    changed = graphs()
    index = changed[7].edge_index
    kept = (index.sort(0).values != index[:, :1].sort(0).values).any(0)
    changed[7].edge_index, changed[7].edge_weight = index[:, kept], changed[7].edge_weight[kept]
    found = list(AddEncodings(ALL).encode(changed, **options))
    assert counting.since() == 5
    assert same(found[7], Compose(ALL)(changed[7]))
    for data in changed:
        data.y = data.y + 1  # which no transform uses
    list(AddEncodings(ALL).encode(changed, **options))
    assert counting.since() == 0
    changed[0].num_nodes, changed[0].x = 4, torch.ones(4, 2, device=DEVICE)
    list(AddEncodings(ALL).encode(changed, **options))
    assert counting.since() == 5


@pytest.mark.parametrize("what", ["argument", "version", "dtype", "weights", "x"])
def test_files_of_something_else(what, tmp_path, monkeypatch, tuning):
    counting = Counting(monkeypatch)
    add = AddEncodings([AddRandomWalkEncoding(4, edge_weight="edge_weight")])
    data = graphs()
    list(add.encode(data, cache=tmp_path))
    assert counting.since() == 12
    expected = 12
    if what == "argument":
        add = AddEncodings([AddRandomWalkEncoding(5, edge_weight="edge_weight")])
    elif what == "version":
        tuning(version="0.0.0")
    elif what == "dtype":
        run = torchcent.Run(dtype=torch.float64)
        add = AddEncodings([AddRandomWalkEncoding(4, edge_weight="edge_weight", run=run)])
    elif what == "weights":
        data[5].edge_weight = 2 * data[5].edge_weight + torch.rand(1).to(DEVICE)
    else:
        data[5].x, expected = data[5].x + 1, 0
    list(add.encode(data, cache=tmp_path))
    assert counting.since() == expected


def test_damaged_files(tmp_path, monkeypatch):
    counting = Counting(monkeypatch)
    add, options = AddEncodings(ALL), {"cache": tmp_path, "batch_size": 6}
    list(add.encode(graphs(), **options))
    first, second = sorted(tmp_path.iterdir())
    first.write_bytes(first.read_bytes()[:1000])
    second.write_bytes(b"")
    counting.since()
    found = list(add.encode(graphs(), **options))
    assert counting.since() == 12
    assert all(same(*pair) for pair in zip(found, one_by_one(), strict=True))


def test_a_run_that_stops_goes_on(tmp_path, monkeypatch):
    """After an error in the data, and where the results are no longer asked for."""
    counting, add = Counting(monkeypatch), AddEncodings(ALL[:4])
    options = {"cache": tmp_path, "batch_size": 4}

    def broken():
        yield from graphs()[:9]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(add.encode(broken(), **options))
    assert counting.since() == 8
    found = list(add.encode(graphs(), **options))
    assert counting.since() == 4
    assert all(same(*pair, NAMES[:4]) for pair in zip(found, one_by_one(), strict=True))
    assert not [path for path in tmp_path.iterdir() if path.suffix != ".pt"]


def test_no_more_than_a_chunk_is_read():
    read = []

    def stream():
        for number in itertools.count():
            read.append(number)
            yield graphs(2)[1]

    found = AddEncodings(["centrality"]).encode(stream(), batch_size=7)
    assert len(list(itertools.islice(found, 8))) == 8
    assert len(read) == 14


INTERRUPTED = """
import signal, sys, torch, torchcent
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells may ignore it
from torch_geometric.data import Data
from torchcent.transforms import AddEncodings
def stream():
    for seed in range(10**6):
        yield Data(edge_index=torchcent.generate.ba(60, 3, seed=seed), num_nodes=60)
add = AddEncodings(["centrality", ("random_walk_encoding", {"walk_length": 8})])
try:
    for number, _ in enumerate(add.encode(stream(), cache=sys.argv[1], batch_size=100)):
        if number == 250:
            print("ready", flush=True)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.stdout.read() == "stopped\n" and process.wait(SECONDS) == 0
    files = list(tmp_path.iterdir())
    assert len(files) >= 3
    for path in files:
        assert path.suffix == ".pt" and torch.load(path, weights_only=True)


def test_progress(capsys):
    list(AddEncodings(ALL).encode(graphs(), batch_size=5, progress=True))
    shown = capsys.readouterr().err
    assert "AddEncodings: 100%" in shown and "12/12" in shown and "random_walk" not in shown
    list(AddEncodings(ALL).encode(iter(graphs()), progress=False))
    assert capsys.readouterr().err == ""


# In PyTorch Geometric: pre_transform, transform, workers.


class Stored(InMemoryDataset):
    def __init__(self, root, **options):
        super().__init__(root, **options)
        self.load(self.processed_paths[0])

    @property
    def processed_file_names(self):
        return ["data.pt"]

    def process(self):
        data = [graph.cpu() for graph in graphs()]
        if self.pre_transform is not None:
            data = [self.pre_transform(graph) for graph in data]
        self.save(data, self.processed_paths[0])


def test_pre_transform_and_transform(tmp_path):
    add = AddEncodings(ALL)
    before = Stored(tmp_path / "before", pre_transform=add)
    later = Stored(tmp_path / "later", transform=add)
    for one, other, known in zip(before, later, one_by_one(), strict=True):
        assert same(one, known.cpu()) and same(other, known.cpu())
    found = list(add.encode(Stored(tmp_path / "later")))
    assert all(same(one, known.cpu()) for one, known in zip(found, one_by_one(), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers(start, tmp_path):
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip(f"{start} is not available here")
    torchcent.betweenness(torchcent.generate.ba(3000, 4, seed=1))  # starts threads here
    data = Stored(tmp_path, transform=AddEncodings(ALL))
    workers = 2 if start == "fork" else 1  # one that is spawned imports everything anew
    loader = DataLoader(
        data, 4, num_workers=workers, multiprocessing_context=start, timeout=SECONDS
    )
    for number, batch in enumerate(loader):
        known = Batch.from_data_list(one_by_one()[4 * number : 4 * number + 4]).cpu()
        assert same(batch, known)


# Heterogeneous graphs.


def papers(seed=0):
    draw = torch.Generator().manual_seed(seed)
    data = HeteroData()
    data["author"].x, data["paper"].x = torch.ones(9, 2), torch.ones(12, 1)
    data["venue"].x = torch.ones(3, 1)
    writes = torch.stack([torch.randint(9, (20,), generator=draw), torch.arange(20) % 12])
    writes = torch.unique(writes, dim=1).contiguous()  # of those twice AddMetaPaths has arcs twice
    data["author", "writes", "paper"].edge_index = writes
    data["paper", "by", "author"].edge_index = writes.flip(0)
    where = torch.stack([torch.arange(12), torch.randint(3, (12,), generator=draw)])
    data["paper", "in", "venue"].edge_index = where
    return data.to(DEVICE)


COAUTHORS = [("author", "writes", "paper"), ("paper", "by", "author")]
VENUES = [("author", "writes", "paper"), ("paper", "in", "venue")]


def test_heterogeneous_graphs():
    several = [AddCentrality("degree"), AddRandomWalkEncoding(3), AddShortestPathEncoding(cutoff=2)]
    found, known = AddEncodings(several)(papers()), Compose(several[:2])(papers())
    for kind in ("author", "paper", "venue"):
        assert same(found[kind], known[kind], ("centrality", "random_walk_pe"))
    known = several[2](papers())
    for kind in known.edge_types:
        for name, value in known[kind].items():
            assert torch.equal(found[kind][name], value)
    members = [papers(seed) for seed in range(5)]
    rows = list(AddEncodings(several).encode(members, batch_size=2))
    for one, data in zip(rows, members, strict=True):
        known = AddEncodings(several)(data)
        assert one.edge_types == known.edge_types
        for store, other in zip(one.stores, known.stores, strict=True):
            assert list(store.keys()) == list(other.keys())
            for name, value in other.items():
                assert torch.equal(torch.as_tensor(store[name]), torch.as_tensor(value)), name


def test_metapaths():
    """Those of PyTorch Geometric's AddMetaPaths, also in a Batch and a data set."""
    walk, degree = AddRandomWalkEncoding(4), AddCentrality(["degree", "closeness"])
    paths = {"coauthors": COAUTHORS, "venues": VENUES}
    add = AddEncodings([walk, degree], metapaths=paths)
    members = [papers(seed) for seed in range(5)]
    alone = []
    for data in members:
        found = add(data)
        assert found.edge_types == data.edge_types
        joined = AddMetaPaths([COAUTHORS, VENUES])(data.clone())
        for number, name in enumerate(paths):
            kind = ("author", f"metapath_{number}", "author" if number == 0 else "venue")
            for transform in (walk, degree):
                of = type(transform)
                options = {"edge_types": [kind]}
                known = (
                    of(4, **options) if of is AddRandomWalkEncoding
                    else of(["degree", "closeness"], **options)
                )(joined)  # fmt: skip
                for end in {kind[0], kind[2]}:
                    there = known[end][transform.attr_name]
                    assert torch.equal(found[end][f"{transform.attr_name}_{name}"], there)
        assert "centrality_coauthors" not in found["venue"]
        alone.append(found)
    batch = add(Batch.from_data_list(members))
    for one, known in zip(batch.to_data_list(), alone, strict=True):
        assert same(one["author"], known["author"], ["centrality_venues", "centrality_coauthors"])
    for one, known in zip(add.encode(members, batch_size=3), alone, strict=True):
        assert same(one["author"], known["author"], ["random_walk_pe_coauthors"])
        assert same(one["venue"], known["venue"], ["centrality_venues"])
    with pytest.raises(ValueError, match="edges of a metapath"):
        AddEncodings([AddEdgeCentrality()], metapaths=paths)(papers())
    pairs = AddEncodings([AddShortestPathEncoding()], metapaths={"both": COAUTHORS})(papers())
    assert pairs["author", "spd_both", "author"].spd_both.min() == 0


# Malformed arguments.

TWICE = "several of the transforms have attr_name='centrality'"
BAD = [
    ({"transforms": []}, TypeError, "transforms must be a list of transforms"),
    ({"transforms": AddCentrality()}, TypeError, "transforms must be a list of transforms"),
    ({"transforms": [3]}, TypeError, r"transforms\[0\] must be a transform of torchcent"),
    ({"transforms": ["pagerank"]}, ValueError, r"transforms\[0\] must be one of .*centrality"),
    ({"transforms": ["random_walk_encoding"]}, TypeError, "walk_length"),
    ({"transforms": ["centrality", AddCentrality("degree")]}, ValueError, TWICE),
    ({"metapaths": [COAUTHORS]}, TypeError, "metapaths must be a dictionary"),
    ({"metapaths": {"a": COAUTHORS[:1] * 2}}, ValueError, r"metapaths\['a'\] has .* after"),
    ({"metapaths": {"edges": COAUTHORS}}, ValueError, "contains the name 'edges' with 'edge'"),
    ({"metapaths": {"a b": COAUTHORS}}, TypeError, "whose keys are names, got 'a b'"),
    ({"metapaths": {"a": []}}, TypeError, "a list of"),
    (
        {"transforms": [AddCentrality(edge_weight="w")], "metapaths": {"a": COAUTHORS}},
        ValueError, "edge_weight='w' of AddCentrality is not for metapaths",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("options", "error", "text"), BAD)
def test_bad_transforms(options, error, text):
    with pytest.raises(error, match=text):
        AddEncodings(**{"transforms": ["centrality"], **options})


def test_bad_data_sets(tmp_path):
    add = AddEncodings(["centrality"])
    with pytest.raises(TypeError, match="dataset must be an iterable of Data objects"):
        add.encode(graphs()[0])
    with pytest.raises(ValueError, match="batch_size must be at least 1, got 0"):
        add.encode([], batch_size=0)
    with pytest.raises(TypeError, match="as_tensors must be True or False"):
        add.encode([], as_tensors=1)
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(NotADirectoryError, match="is not a folder"):
        add.encode([], cache=file)
    add.encode([], cache=tmp_path / "no" / "folder")
    assert (tmp_path / "no" / "folder").is_dir()
    with pytest.raises(TypeError, match="data must be a torch_geometric Data"):
        list(add.encode([3]))
    with pytest.raises(ValueError, match="data has no edge_index"):
        list(add.encode([Data(num_nodes=3)], cache=tmp_path))
    with pytest.raises(ValueError, match="dense=True needs max_nodes for a data set"):
        AddEncodings([AddShortestPathEncoding(dense=True)]).encode([])
    dense = AddEncodings([AddShortestPathEncoding(dense=True, max_nodes=12)])
    for one, data in zip(dense.encode(graphs()), graphs(), strict=True):
        assert torch.equal(one.spd, dense(data).spd)
