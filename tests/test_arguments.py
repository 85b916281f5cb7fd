"""Malformed arguments of every public function, by the fuzzer's own rules (fuzz/arguments.py)."""

import importlib.util
import random
from types import ModuleType

import pytest
import torch
from surface import spread

import torchcent
from torchcent import Graph


@pytest.fixture(autouse=True)
def little_memory(tuning):
    """So that sizes beyond it are refused, whatever the machine has."""
    tuning(free_memory=lambda device: 2**29)


def test_each_argument_of_each_function_with_each_value(fuzzer, request):
    """Of each argument every third value, or every twelfth where only a part of the sweeps is run,
    from one on that the seed chooses: all of them take minutes, and the fuzzer draws from all."""
    every, calls, found = 3 if request.config.option.part == 1 else 12, 0, []
    first = random.randrange(every * 50)
    for name, target, wrong in fuzzer.single():
        calls += 1
        if (calls + first) % (50 if target.slow else every):
            continue
        if (said := fuzzer.fault(name, target, wrong)) is not None:
            found.append(f"{name}({', '.join(wrong)}): {said}")
    assert not found, "\n".join(found[:20])
    assert calls > 40_000


def test_the_fuzzer_notices_faults(fuzzer):
    def raw(edge_index):
        raise RuntimeError("torch_call_dispatcher(...) API call failed")

    def silent(edge_index):
        raise ValueError("something is wrong")

    def leaking(edge_index):
        raise ValueError("edge_index: 'int' object has no attribute 'shape'")

    for bad, said in ((raw, "RuntimeError"), (silent, "names no argument"), (leaking, "raw")):
        assert said in fuzzer.fault("bad", fuzzer.Target(bad, {}), {"edge_index": 1})


def test_every_public_function_is_a_target(fuzzer):
    named = {name.split(".")[-1] for name in fuzzer.targets()}
    values = {name: getattr(torchcent, name) for name in torchcent.__all__}
    known = {
        name
        for name, value in values.items()
        if callable(value) and not isinstance(value, type | ModuleType)
    }
    if not importlib.util.find_spec("geopandas"):
        known -= {"read_streets", "street_table"}
    assert known - named <= {"show_config", "include_path"}  # without arguments


# --- bounds of integers


@pytest.mark.parametrize("expansion", [1001, 2**40, 2**63, 10**400])
def test_expansion_is_bounded(expansion):
    with pytest.raises(ValueError, match="expansion must be at most 1000"):
        torchcent.mcl(torch.tensor([[0], [1]]), expansion=expansion)


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: torchcent.generate.rmat(30), "scale=30"),
        (lambda: torchcent.generate.rmat(4, 2**30), "edge_factor"),
        (lambda: torchcent.generate.ba(2**31 - 1, 5), "n="),
        (lambda: torchcent.generate.er(2**31 - 1, 0.5), "p=0.5"),
        (lambda: torchcent.generate.er(10**6, m=10**11), "m="),
        (lambda: torchcent.generate.grid(40000, 40000), "rows=40000"),
        (lambda: torchcent.generate.road(40000, 40000), "rows=40000"),
        (lambda: torchcent.generate.delaunay(2**30), "n="),
        (lambda: torchcent.generate.ws(2**30, 4, 0.1), "n="),
        (lambda: torchcent.generate.planted(2**30), "degree=20"),
    ],
)
def test_generators_refuse_what_does_not_fit(make, said):
    with pytest.raises(MemoryError, match=rf"(?s){said}.*needs .* bytes\), but memory="):
        make()


# --- memory of building


@pytest.mark.parametrize(
    "arguments",
    [
        dict(num_nodes=2**31 - 1),
        dict(batch=torch.tensor([0, 0, 0, 0, 10**8])),
        dict(ptr=torch.tensor([0, 2**31 - 1])),
        dict(edge_index=torch.tensor([[0], [2**31 - 2]])),
    ],
    ids=lambda value: next(iter(value)),
)
@pytest.mark.parametrize("memory", [None, 10**8])
def test_building_is_refused_before_memory_is_taken(tuning, arguments, memory):
    arcs = {"edge_index": torch.tensor([[0, 1], [1, 0]])}
    called = []
    tuning(csr=lambda *_: called.append(1))
    limit = 2**28 if memory is None else memory
    functions = () if "ptr" in arguments else (torchcent.betweenness, torchcent.mcl)
    for build in (Graph.from_edge_index, *functions):
        with pytest.raises(MemoryError, match=rf"building a Graph.*needs .*memory={limit} "):
            build(**spread(arcs | arguments, memory=memory))
    assert not called


def test_memory_for_building_from_other_libraries():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    networkx = pytest.importorskip("networkx")
    for build, graph in (
        (Graph.from_scipy, scipy_sparse.eye_array(100, k=1, format="csr")),
        (Graph.from_networkx, networkx.path_graph(100)),
    ):
        assert build(graph, run=torchcent.Run(memory=10**6)).num_nodes == 100
        with pytest.raises(MemoryError, match="memory=500 "):
            build(graph, run=torchcent.Run(memory=500))
    geometric = pytest.importorskip("torch_geometric.data")
    data = geometric.Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=100)
    assert Graph.from_data(data, run=torchcent.Run(memory=10**6)).num_nodes == 100
    with pytest.raises(MemoryError, match="memory=500 "):
        Graph.from_data(data, run=torchcent.Run(memory=500))


def test_what_allocators_say_becomes_a_memory_error(tuning):
    arcs = torch.tensor([[0, 1], [1, 2]])
    for raw in (
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes."),
        RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has"),
        MemoryError("std::bad_alloc"),
        MemoryError(),
        MemoryError("Unable to allocate 7.45 GiB for an array with shape (1000000000,)"),
    ):

        def fail(*_, error=raw):
            raise error

        tuning(csr=fail)
        with pytest.raises(MemoryError, match="betweenness: the system did not grant .* free"):
            torchcent.betweenness(arcs)
    tuning(csr=lambda *_: [][1])
    with pytest.raises(IndexError):
        torchcent.betweenness(arcs)
