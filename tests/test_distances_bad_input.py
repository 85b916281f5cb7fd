"""Bad arguments of the distance measures raise errors that name the argument."""

import inspect

import pytest
import torch
from engines import skip_if_too_large
from graphs import DEVICE
from surface import call

import torchcent
from torchcent import Graph

ARCS = torch.tensor([[0, 1, 2], [1, 2, 3]])
MEASURES = [
    torchcent.distance_profile,
    torchcent.closeness,
    torchcent.harmonic,
    torchcent.eccentricity,
    torchcent.average_shortest_path_length,
    torchcent.distance_distribution,
    torchcent.effective_diameter,
    torchcent.diameter,
    torchcent.radius,
    torchcent.center,
    torchcent.periphery,
]
BAD = {
    "edge_weight": [
        (torch.ones(2), ValueError, r"edge_weight must have shape \[3\]"),
        ([1.0, 1.0, 1.0], TypeError, "edge_weight must be a torch.Tensor"),
    ],
    "num_nodes": [(3, ValueError, "num_nodes=3"), ("4", TypeError, "num_nodes")],
    "batch": [
        ([0, 0, 1, 1], TypeError, "batch must be a torch.Tensor"),
        (
            torch.tensor([0, 0, 1, 1]),
            ValueError,
            r"edge_index\[:, 1\] is the arc \(1, 2\).*0 to.*1",
        ),
    ],
    "ptr": [
        (torch.tensor([0, 3]), ValueError, "ptr, of 3 vertices, is too small"),
        (torch.tensor([0.0, 4.0]), TypeError, "ptr must be int64"),
    ],
    "directed": [(1, TypeError, "directed must be True or False")],
    "engine": [
        ("lanes", ValueError, "engine.*auto, bits, queue, hierarchy, tensor.*'lanes'"),
        (None, ValueError, "engine"),
    ],
    "memory": [
        (0, ValueError, "memory"),
        ("1 GB", TypeError, "memory"),
        (10, MemoryError, "needs .*bytes.*memory=10 "),
    ],
    "progress": [("yes", TypeError, "progress must be True or False")],
    "dtype": [(torch.int64, TypeError, "dtype.*floating-point")],
    "wf_improved": [("no", TypeError, "wf_improved must be True or False")],
    "normalized": [(1, TypeError, "normalized must be True or False")],
    "disconnected": [("raise", ValueError, "disconnected.*inf, component.*'raise'")],
    "sources": [
        (5, ValueError, "sources=5.*1 to 4"),
        (0, ValueError, "sources=0"),
        (torch.tensor([0, 4]), ValueError, r"sources.*vertex 4.*\[0, 4\)"),
        (torch.tensor([1, 1]), ValueError, "sources.*vertex 1 more than once"),
        (torch.tensor([0.5]), TypeError, "sources.*integer"),
        (True, TypeError, "sources"),
    ],
    "vertices": [
        (torch.tensor([4]), ValueError, r"vertices.*vertex 4.*\[0, 4\)"),
        (torch.tensor([]), ValueError, "vertices must not be empty"),
        (torch.tensor([[0]]), ValueError, "vertices must be one-dimensional"),
        ("all", TypeError, "vertices"),
    ],
    "top": [
        (0, ValueError, "top=0.*1 to.*4"),
        (5, ValueError, "top=5"),
        (2.0, TypeError, "top must be an int"),
        (True, TypeError, "top must be an int"),
    ],
    "q": [
        (0, ValueError, r"q must be in \(0, 1\], got 0"),
        (1.5, ValueError, "q must be in"),
        (float("nan"), ValueError, "q must be in"),
        ("90%", TypeError, "q must be a number"),
    ],
    "checkpoint": [
        (5, TypeError, "checkpoint must be a str or os.PathLike"),
        ("", ValueError, "checkpoint='' is no path"),
        (__file__, ValueError, "checkpoint=.*is a file"),
    ],
    "devices": [
        ("cpu", TypeError, "devices must be a sequence"),
        ([], ValueError, r"devices=\[\] must include cpu"),
    ],
    "group": [("all", TypeError, "group must be a torch.distributed.ProcessGroup")],
    "cutoff": [
        (-1, ValueError, "cutoff must be >= 0"),
        (float("nan"), ValueError, "cutoff must be >= 0"),
        ("2", TypeError, "cutoff must be a number"),
    ],
}


@pytest.fixture(params=MEASURES, ids=lambda measure: measure.__name__)
def measure(request):
    return request.param


def test_arguments(measure):
    own = set(inspect.signature(measure).parameters) - {"edge_index", "run"}
    names = {*own, "engine", "memory", "progress", "checkpoint", "devices", "group"}
    if measure not in (torchcent.center, torchcent.periphery, torchcent.distance_distribution):
        names.add("dtype")
    assert set(names) <= set(BAD)
    for name in names:
        for bad, error, said in BAD[name]:
            with pytest.raises(error, match=f"(?s){said}"):
                call(measure, ARCS, **{name: bad})


@pytest.mark.parametrize(
    "bad, error",
    [
        (torch.zeros(3, dtype=torch.int64), ValueError),
        (torch.zeros(2, 3), TypeError),
        ([[0, 1], [1, 2]], ValueError),
        (torch.tensor([[0], [-1]]), ValueError),
    ],
    ids=["shape", "float", "list", "negative"],
)
def test_edge_index(measure, bad, error):
    with pytest.raises(error, match="edge_index"):
        measure(bad)


def test_contradictions_to_a_graph(measure):
    graph = Graph.from_edge_index(ARCS, directed=False)
    with pytest.raises(ValueError, match="directed=True contradicts.*directed=False"):
        measure(graph, directed=True)


def test_exclusive_arguments():
    one = torch.tensor([0])
    for options in (
        {"sources": 2, "vertices": one},
        {"sources": 2, "top": 1},
        {"vertices": one, "top": 1},
    ):
        with pytest.raises(ValueError, match=" and ".join(options) + " exclude each other"):
            call(torchcent.closeness, ARCS, **options)
    with pytest.raises(ValueError, match="sources and vertices exclude each other"):
        torchcent.harmonic(ARCS, sources=2, vertices=one)


def test_run_that_cannot_fit(measure, distance_engine):
    skip_if_too_large(distance_engine, 5000)
    arcs = torch.randint(0, 5000, (2, 20000), generator=torch.Generator().manual_seed(0))
    with pytest.raises(MemoryError, match=r"needs .*bytes.*memory=100000 "):
        measure(arcs, run=torchcent.Run(engine=distance_engine, memory=100_000), num_nodes=5000)


def test_explain():
    with pytest.raises(ValueError, match="measure.*closeness.*'pagerank'"):
        torchcent.explain(ARCS, measure="pagerank")
    with pytest.raises(ValueError, match="engine.*auto, bits, queue, hierarchy, tensor.*'lanes'"):
        torchcent.explain(ARCS, measure="closeness", run=torchcent.Run(engine="lanes"))
    with pytest.raises(ValueError, match="engine.*auto, lanes, queue, hierarchy, tensor.*'bits'"):
        torchcent.explain(ARCS, measure="betweenness", run=torchcent.Run(engine="bits"))
    with pytest.raises(MemoryError):
        torchcent.explain(ARCS, measure="harmonic", run=torchcent.Run(memory=10))


@pytest.mark.skipif(DEVICE.type == "cuda", reason="CUDA has it")
@pytest.mark.parametrize(
    "measure",
    ["closeness", "harmonic", "eccentricity", "diameter", "radius", "center", "distance_profile",
     "distance_distribution", "shortest_path_lengths"],
)  # fmt: skip
def test_a_queue_finds_distances_on_cuda_only(measure):
    with pytest.raises(ValueError, match="engine='queue' searches for distances on CUDA only"):
        getattr(torchcent, measure)(ARCS, run=torchcent.Run(engine="queue"))


def test_int32_and_strided_input_is_welcome(measure, distance_engine):
    plain = torch.atleast_1d(measure(ARCS, run=torchcent.Run(engine=distance_engine)))
    for columns in (ARCS.int(), ARCS.t().contiguous().t(), ARCS.repeat(1, 2)):
        actual = torch.atleast_1d(measure(columns, run=torchcent.Run(engine=distance_engine)))
        assert all(map(torch.equal, actual, plain))
