"""The transforms in workers of a DataLoader, forked and spawned, and on several threads."""

import multiprocessing
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest
import scipy.sparse.csgraph  # noqa: F401  (starts threads when it is loaded)
import torch

import torchcent

pytest.importorskip("torch_geometric")
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.loader import DataLoader
from torch_geometric.transforms import BaseTransform, Compose
from torch_geometric.utils import from_networkx

from torchcent.transforms import AddCentrality, AddClusters, AddEdgeCentrality

FEATURES = Compose(
    [
        AddCentrality(["betweenness", "closeness", "degree"]),
        AddCentrality(["harmonic"], attr_name=None),
        AddEdgeCentrality(),
        AddClusters(),
    ]
)
SECONDS = 120  # after which a worker is taken for dead


class Graphs(torch.utils.data.Dataset):
    """Random graphs, transformed when they are asked for; tells what it was made in."""

    def __init__(self, count: int, size: int = 30, transform: BaseTransform = FEATURES) -> None:
        self.transform = transform
        self.graphs = [from_networkx(self._graph(size, seed)) for seed in range(count)]

    @staticmethod
    def _graph(size: int, seed: int) -> nx.DiGraph:
        return nx.DiGraph(nx.gnp_random_graph(size, 4 / size, seed=seed))

    def __len__(self) -> int:
        return len(self.graphs)

    def __getitem__(self, number: int) -> Data:
        before = settled_threads()
        made: Data = self.transform(self.graphs[number])
        made.process, made.torch_threads = os.getpid(), torch.get_num_threads()
        made.new_threads = new_threads(before)
        return made


def settled_threads() -> int:
    """A thread that the loader is just starting is counted by Python before the system has it."""
    counts = []
    for _ in range(3):
        counts.append(system_threads())
        time.sleep(0.005)
    return max(counts)


def new_threads(before: int) -> int:
    """Threads that stay; one that has just ended is listed longer than Python counts it."""
    for _ in range(100):
        if system_threads() <= before:
            break
        time.sleep(0.01)
    return system_threads() - before


def system_threads() -> int:
    """Those that are not Python's; the loader starts some of these in its workers."""
    return len(list(Path("/proc/self/task").glob("*"))) - threading.active_count()


@pytest.fixture
def used_before(threads: None) -> Iterator[None]:
    """torchcent and OpenMP ran on two threads in this process, as before a fork in a notebook."""
    torch.set_num_threads(2)
    graph = torchcent.generate.ba(3000, 4, seed=1)
    torchcent.betweenness(graph)
    torchcent.closeness(graph)
    torchcent.mcl(graph)
    torch.rand(2000, 2000).sort()
    yield


@pytest.mark.slow
@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers(start: str, used_before: None) -> None:
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip(f"{start} is not available here")
    workers = 2 if start == "fork" else 1  # one that is spawned imports everything anew
    graphs = Graphs(12)
    loader = DataLoader(
        graphs, batch_size=3, num_workers=workers, multiprocessing_context=start, timeout=SECONDS
    )
    batches = list(loader)
    expected = Batch.from_data_list([FEATURES(data) for data in graphs.graphs])
    for name in ("centrality", "x", "edge_centrality", "cluster"):
        found = torch.cat([batch[name] for batch in batches])
        assert torch.equal(found, expected[name]), name
    processes = {int(p) for batch in batches for p in batch.process}
    assert len(processes) == workers and os.getpid() not in processes
    assert {int(t) for batch in batches for t in batch.torch_threads} == {1}
    assert max(int(t) for batch in batches for t in batch.new_threads) <= 0


@pytest.mark.slow
def test_large_graphs_in_forked_workers(used_before: None) -> None:
    """Such as are computed in a thread of their own beside the progress bar."""
    transform = AddCentrality(["betweenness", "closeness"])
    graphs = Graphs(2, 2500, transform)
    loader = DataLoader(
        graphs, batch_size=1, num_workers=2, multiprocessing_context="fork", timeout=SECONDS
    )
    found = torch.cat([batch.centrality for batch in loader])
    assert torch.equal(found, torch.cat([transform(data).centrality for data in graphs.graphs]))


def test_batches_transformed_after_loading() -> None:
    graphs = Graphs(6)
    loader = DataLoader(graphs.graphs, batch_size=3, num_workers=1, timeout=SECONDS)
    for number, batch in enumerate(loader):
        made = FEATURES(batch)
        for place, part in enumerate(made.to_data_list()):
            alone = FEATURES(graphs.graphs[3 * number + place])
            torch.testing.assert_close(part.centrality, alone.centrality)
            assert torch.equal(part.cluster, alone.cluster)


def test_heterogeneous_batches_from_workers() -> None:
    def pair(n: int) -> HeteroData:
        data = HeteroData()
        data["user"].x, data["item"].x = torch.ones(n, 1), torch.ones(n + 1, 1)
        steps = torch.arange(n)
        data["user", "buys", "item"].edge_index = torch.stack([steps, steps + 1])
        data["item", "bought", "user"].edge_index = torch.stack([steps, steps])
        return data

    members = [pair(n) for n in (2, 3, 4, 5)]
    transform = AddCentrality(["closeness"])
    for number, batch in enumerate(DataLoader(members, 2, num_workers=1, timeout=SECONDS)):
        alone = [transform(data) for data in members[2 * number : 2 * number + 2]]
        for kind in ("user", "item"):
            found = transform(batch)[kind].centrality
            torch.testing.assert_close(found, torch.cat([one[kind].centrality for one in alone]))


def test_threads_of_python() -> None:
    graphs = Graphs(8)
    expected = [FEATURES(data).centrality for data in graphs.graphs]
    found: dict[int, torch.Tensor] = {}

    def work(number: int) -> None:
        found[number] = FEATURES(graphs.graphs[number]).centrality

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(found[number], wanted) for number, wanted in enumerate(expected))
