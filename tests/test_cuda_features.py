"""Transforms and compiled models on CUDA: values of the CPU, the current stream, CUDA graphs."""

import pytest
import torch
from internals import warn_without_kernels
from surface import call
from torch import Tensor, nn

import torchcent
from torchcent import functional

if not torch.cuda.is_available():
    pytest.skip("needs a CUDA device", allow_module_level=True)

MEASURES = ["betweenness", "closeness", "harmonic", "eccentricity", "degree"]


def batch_of(*sizes: int) -> tuple[Tensor, Tensor]:
    """edge_index and batch of random graphs of these sizes, on the host."""
    parts, first = [], 0
    for number, size in enumerate(sizes):
        index = torchcent.generate.ba(size, 2, seed=number)
        whole = torchcent.Graph.from_edge_index(index, size, directed=False).to_edge_index()
        parts.append(whole + first)
        first += size
    return torch.cat(parts, 1), torch.repeat_interleave(
        torch.arange(len(sizes)), torch.tensor(sizes)
    )


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(1 + len(MEASURES), 4)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        n = x.shape[0]
        scores = functional.node_features(
            edge_index * 1, num_nodes=n, batch=batch, measures=MEASURES
        )
        return self.layer(torch.cat([x, scores], dim=1)).relu()


def test_the_current_stream() -> None:
    """The operator waits for what its stream does before, and is done for what comes after."""
    index, batch = batch_of(20, 300, 7)
    expected = functional.node_features(
        index, num_nodes=327, batch=batch, measures=MEASURES, run=torchcent.Run(dtype=torch.float64)
    )
    stream = torch.cuda.Stream()
    index, batch = index.cuda(), batch.cuda()
    for _ in range(3):
        late = torch.zeros_like(index)
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(20_000_000)
            late.copy_(index)
            found = functional.node_features(
                late,
                num_nodes=327,
                batch=batch,
                measures=MEASURES,
                run=torchcent.Run(dtype=torch.float64),
            )
            found = found * 2
        stream.synchronize()
        torch.testing.assert_close(found.cpu() / 2, expected, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_compiled(mode: str) -> None:
    """reduce-overhead records CUDA graphs, which leave the operator out."""
    pytest.importorskip("triton")
    torch._dynamo.reset()
    model = Model().cuda()
    run = torch.compile(model, fullgraph=True, mode=mode)
    for sizes in ((20, 30), (20, 30), (25, 25), (20, 30)):
        index, batch = (part.cuda() for part in batch_of(*sizes))
        x = torch.ones(50, 1, device="cuda")
        with torch.no_grad():
            torch.testing.assert_close(run(x, index, batch).clone(), model(x, index, batch))


def test_training_step_when_compiled() -> None:
    pytest.importorskip("triton")
    torch._dynamo.reset()
    model = Model().cuda()
    index, batch = (part.cuda() for part in batch_of(20, 30))
    x = torch.ones(50, 1, device="cuda")
    model(x, index, batch).sum().backward()
    expected = model.layer.weight.grad.clone()
    model.layer.weight.grad = None
    torch.compile(model, fullgraph=True)(x, index, batch).sum().backward()
    torch.testing.assert_close(model.layer.weight.grad, expected)


def test_transforms_stay_on_the_device() -> None:
    pytest.importorskip("torch_geometric")
    from torch_geometric.data import Data
    from torch_geometric.transforms import Compose

    from torchcent.transforms import AddCentrality, AddClusters, AddEdgeCentrality

    index, batch = batch_of(20, 300, 7)
    data = Data(edge_index=index, batch=batch, x=torch.ones(327, 1), num_nodes=327)
    add = Compose([
        AddCentrality(MEASURES), AddCentrality(MEASURES, None), AddEdgeCentrality(), AddClusters(),
    ])  # fmt: skip
    here, there = add(data), add(data.cuda())
    for name in ("centrality", "x", "edge_centrality"):
        assert there[name].is_cuda
        torch.testing.assert_close(there[name].cpu(), here[name], rtol=1e-5, atol=1e-7)
    assert torch.equal(there.cluster.cpu(), here.cluster)


def test_networkx_backend() -> None:
    """With `device="cuda"` the values of NetworkX, from its graphs and its calls."""
    nx = pytest.importorskip("networkx", minversion="3.6")
    if "torchcent" not in nx.config.backends:
        pytest.skip("torchcent is not installed, so that NetworkX does not know it")
    graph = nx.gnm_random_graph(200, 700, seed=3)
    for i, (_, _, data) in enumerate(graph.edges(data=True)):
        data["weight"] = 1 + i % 5
    calls = {
        "betweenness_centrality": {"weight": "weight"},
        "edge_betweenness_centrality": {},
        "closeness_centrality": {},
        "harmonic_centrality": {"distance": "weight"},
        "eccentricity": {"weight": "weight"},
    }
    graph = graph.subgraph(max(nx.connected_components(graph), key=len)).copy()
    for name, options in calls.items():
        call = getattr(nx, name)
        expected = call(graph, backend="networkx", **options)
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.max_memory_allocated()
        with nx.config.backends.torchcent(device="cuda"):
            found = call(graph, backend="torchcent", **options)
        assert torch.cuda.max_memory_allocated() > before, f"{name} did not run on the device"
        assert found == pytest.approx(expected)


def test_without_kernels_the_host_searches(tuning) -> None:
    """The bits of the host, on the device; tensors and Graphs, for all that searches."""
    index, batch = batch_of(20, 300, 7)
    weight = torch.rand(
        index.shape[1], dtype=torch.float64, generator=torch.Generator().manual_seed(1)
    )
    calls = {
        name: lambda *graph, name=name, **more: call(getattr(torchcent, name), *graph, **more)
        for name in (
            "betweenness", "edge_betweenness", "stress", "closeness", "harmonic", "eccentricity",
            "distance_profile", "core_number", "triangles", "clustering_coefficient",
            "shortest_path_lengths", "node_features",
        )
    }  # fmt: skip
    tuning(compiled_for_cuda=False)
    warn_without_kernels.cache_clear()
    graph = torchcent.Graph.from_edge_index(index.cuda(), 327, edge_weight=weight.cuda())
    with pytest.warns(RuntimeWarning, match="CUDA kernels are not installed"):
        torchcent.betweenness(index.cuda())
    for name, score in calls.items():
        expected = score(index, num_nodes=327)
        result = score(index.cuda(), num_nodes=327)
        by_weight, known = score(graph), score(graph.to("cpu"))
        for ours, theirs in ((result, expected), (by_weight, known)):
            several = isinstance(ours, tuple)
            for one, other in zip(ours, theirs, strict=True) if several else [(ours, theirs)]:
                assert one.is_cuda, name
                assert torch.equal(one.cpu(), other), name
    drawn = torchcent.betweenness_approx(graph, 0.05, generator=torch.Generator().manual_seed(2))
    assert drawn.scores.is_cuda and drawn.top(3).vertices.is_cuda
    assert torchcent.mcl(index.cuda(), num_nodes=327).labels.is_cuda
    assert torchcent.explain(graph).device.type == "cpu"
    warn_without_kernels.cache_clear()
