"""Malformed arguments of every public function: whatever is passed, a result or an error in words
of torchcent comes back, which names an argument that is wrong.

    python fuzz/arguments.py --seconds 60 --seed 1

draws functions and one to three arguments to spoil; every failure is printed as a call. The tests
run :func:`single`, which spoils each argument of each function with each value once.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib.util
import inspect
import itertools
import random
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import doors
import networkx as nx
import numpy as np
import pyarrow
import scipy.sparse
import torch
from torch._subclasses import FakeTensorMode

import torchcent
from torchcent import Graph, functional, generate
from torchcent.engines.measures._kernels import KERNELS

ALLOWED = (TypeError, ValueError, MemoryError, NotImplementedError, ImportError, OSError)
# What only PyTorch, NumPy or Python would say.
RAW = (
    "API call failed", "DefaultCPUAllocator", "bad_alloc", "dispatch", "object has no attribute",
    "not supported between", "unsupported operand", "unexpected keyword", "cannot be interpreted",
    "too large to convert", "aten::", "no implementation found", "unhashable", "ambiguous",
    "takes from", "int too", "only one element", "object is not", "could not convert",
)  # fmt: skip
ARCS = torch.tensor([[0, 1, 2, 3, 0], [1, 2, 3, 4, 4]])
BOUND = 2**28  # bytes: what a spoiled size asks for beyond it is refused
# What is spoiled of a Run; but not threads, of which there may be any number.
OF_RUN = ("engine", "reduce", "memory", "checkpoint", "devices", "group")

ELSEWHERE = tempfile.TemporaryDirectory()


class Target(NamedTuple):
    call: Callable[..., object]
    good: dict[str, Any]
    slow: bool = False


def targets() -> dict[str, Target]:
    """Every public function, with arguments that it accepts."""
    made: dict[str, Target] = {}
    needs: dict[str, dict[str, Any]] = {
        "landmark_distances": {"landmarks": 2},
        "pair_features": {"pairs": torch.tensor([[0, 1], [3, 2]]), "directed": False},
        "reachable": {"sources": 1},
        "shortest_path": {"source": 0, "target": 4},
        "multi_search": {"visitor": torchcent.Visitor()},
        "betweenness_adaptive": {"vertices": torch.tensor([1])},
        "clustering_quality": {"clustering": torch.tensor([0, 0, 1, 1, 1])},
        "betweenness_approx": {"epsilon": 0.2},
        "group_betweenness": {"group": torch.tensor([1, 3])},
        "group_closeness": {"group": torch.tensor([1, 3])},
        "group_degree": {"group": torch.tensor([1, 3])},
        "prominent_group": {"k": 2},
        "betweenness_variant": {"variant": "linear"},
        "random_walk_encoding": {"walk_length": 4},
        "local_betweenness": {"radius": 1},
        "modularity": {"labels": torch.tensor([0, 0, 1, 1, 1])},
        "straightness": {"positions": torch.ones(5, 2), "edge_weight": torch.ones(ARCS.shape[1])},
        "dual_graph": {"positions": torch.arange(10.0).reshape(5, 2)},
        "effective_resistance": {"pairs": torch.tensor([[0, 1], [3, 2]]), "directed": False},
        "eigenspace_projections": {"k": 2, "directed": False},
        "laplacian_encoding": {"k": 2, "directed": False},
        "magnetic_encoding": {"k": 2},
        "heat_kernel_encoding": {"times": 1.0, "directed": False},
        "heat_kernel_pairs": {"times": 1.0, "directed": False},
        "random_walk_pairs": {"powers": 3},
        "windows": {"times": torch.arange(5.0), "width": 2},
    }
    undirected = [
        "communicability",
        "communities_by_betweenness",
        "eigenvector",
        "electrostatic_encoding",
        "gpse_encodings",
        "forman_curvature",
        "leiden",
        "node_resistance_curvature",
        "ollivier_ricci_curvature",
        "resistance_curvature",
        "resistance_pairs",
        "sdrf",
        "spectral_density",
        "subgraph_centrality",
        "transitivity",
        "triangles",
        "substructure_counts",
        "edge_substructure_counts",
    ]
    undirected += [name for name in torchcent.__all__ if "current_flow" in name]
    needs |= {name: {"directed": False} for name in (*undirected, "information_centrality")}
    for row in KERNELS.values():
        if row.weighted_by:
            needs[row.name] = {row.weighted_by: torch.ones(5)}
    for name in torchcent.__all__:
        call = getattr(torchcent, name)
        if inspect.isfunction(call) and "edge_index" in inspect.signature(call).parameters:
            made[name] = Target(call, {"edge_index": ARCS, **needs.get(name, {})})
    clusters = torch.tensor([0, 0, 1])
    made["clustering_distance"] = Target(
        torchcent.clustering_distance, {"first": clusters, "second": clusters}
    )
    made["DynamicGraph"] = Target(torchcent.DynamicGraph, {"edge_index": ARCS})
    measures = ("Betweenness", "BetweennessApprox", "Closeness", "Counts", "EdgeBetweenness")
    for name in (*measures, "Katz", "PageRank"):
        name = f"Dynamic{name}"
        call, changing = getattr(torchcent, name), torchcent.DynamicGraph(ARCS)
        made[name] = Target(call, {"graph": changing})

    @functools.wraps(torchcent.DynamicGraph(ARCS).update)
    def update(*args: Any, **options: Any) -> object:
        return torchcent.DynamicGraph(ARCS).update(*args, **options)

    made["DynamicGraph.update"] = Target(update, {"insert": torch.tensor([[1], [3]])})
    made["Prune"] = Target(torchcent.Prune, {})
    made["Run"] = Target(torchcent.Run, {})
    made["Engine"] = Target(torchcent.Engine, {})
    made["from_edge_index"] = Target(Graph.from_edge_index, {"edge_index": ARCS})
    made["from_scipy"] = Target(
        Graph.from_scipy, {"matrix": scipy.sparse.csr_array(np.eye(3, k=1))}
    )
    made["from_networkx"] = Target(Graph.from_networkx, {"graph": nx.path_graph(4)})
    graph = Graph.from_edge_index(ARCS)
    made["from_edges"] = Target(Graph.from_edges, {"edges": ARCS.numpy()})
    made["from_torch_sparse"] = Target(Graph.from_torch_sparse, {"matrix": graph.to_torch_sparse()})
    table = {"source": [0, 1, 2], "target": [1, 2, 0], "weight": [1.0, 2.0, 3.0]}
    made["from_table"] = Target(Graph.from_table, {"table": pyarrow.table(table)})
    for name, call in (("igraph", Graph.from_igraph), ("networkit", Graph.from_networkit)):
        if importlib.util.find_spec(name):
            made[f"from_{name}"] = Target(call, {"graph": getattr(graph, f"to_{name}")()})
    made["Graph.to_torch_sparse"] = Target(graph.to_torch_sparse, {})
    made["Graph.to"] = Target(graph.to, {"device": "cpu"})
    closure = torchcent.transitive_closure(ARCS)
    made["Closure.reaches"] = Target(closure.reaches, {"u": 1, "v": 2})
    made["Closure.row"] = Target(closure.row, {"u": 1})
    for name in functional.__all__:
        good = {"edge_index": ARCS, "num_nodes": 5, **needs.get(name, {})}
        if name == "shortest_path_encoding" or name.endswith("_pairs"):
            good["shape"] = (1, 5)
        made[f"functional.{name}"] = Target(getattr(functional, name), good)
    sizes: dict[str, dict[str, Any]] = {
        "ba": {"n": 9, "m": 2}, "configuration_model": {"degrees": torch.full((5,), 2)},
        "rewired": {"edge_index": ARCS, "directed": False},
        "delaunay": {"n": 9}, "er": {"n": 9, "p": 0.3},
        "grid": {"rows": 3, "cols": 3}, "planted": {"n": 30}, "rmat": {"scale": 3},
        "road": {"rows": 4, "cols": 4}, "ws": {"n": 9, "k": 2, "p": 0.1},
    }  # fmt: skip
    for name, good in sizes.items():
        made[f"generate.{name}"] = Target(getattr(generate, name), good)
    for door in (
        doors.files(), doors.streets(), doors.tables(), doors.transforms(), doors.networkx()
    ):  # fmt: skip
        for name, (call, good) in door.items():
            made[name] = Target(call, good, slow=name.startswith("plot"))
    return made


class Strange:
    """An object whose every use is an error."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    __hash__ = None  # type: ignore[assignment]


def values() -> dict[str, Any]:
    """What an argument is spoiled with."""
    numbers = torch.tensor([0.0, 1.0, 2.0, 3.0, 4.0])
    with FakeTensorMode():
        fake, fake_arcs = torch.zeros(5), torch.zeros(2, 5, dtype=torch.int64)
    nested = torch.nested.nested_tensor([numbers, numbers[:2]])
    jagged = torch.nested.nested_tensor([numbers, numbers[:2]], layout=torch.jagged)
    plain: list[Any] = [
        None, True, False, -1, 0, 1, 2, 3, 2**31 - 1, 2**31, 2**40, 2**53 + 1, 2**62, 2**63 - 1,
        2**63, 2**64, 10**400, -(2**63), -(10**400), 0.5, -0.5, 1e-300, 1e308, float("nan"),
        float("inf"), -float("inf"), 1j, "", "auto", "x" * 5000, "\ud800", b"bytes", "tensor",
        "tiny", "queue", "bits", [], [0], [[0, 1], [1]], (), (1, 2), {}, {1}, object(), int,
        torch.float32, torch.int64, torch.float8_e4m3fn, torch.complex64, torch.device("cpu"),
        "cuda:99", range(3), nx.path_graph(3), nx.Graph, scipy.sparse.eye_array(3),
        pyarrow.table({"a": [0, 1], "b": [1, 2]}), pyarrow.table({"a": ["x"], "b": [None]}),
        pyarrow.table({}), np.zeros((4, 2), int), [(0, 1)], [(0, "a")], [[0, 1], [1, 2], [2, 0]],
        [2**70], [None], [1.5], ["a"], Strange(), np.int64(2), np.int32(-1), np.uint64(2**63),
        np.float32(0.5), np.bool_(True), np.arange(3), np.arange(3.0), np.array("a"), np.array(3),
        np.datetime64("2020"), lambda: 1, torch.Generator(), Graph.from_edge_index(ARCS),
        Graph.from_edge_index(ARCS, edge_weight=torch.ones(5)), torchcent.Run(engine="queue"),
        torchcent.Run(progress=False), torchcent.Engine("queue", strategy="warp_centric"),
    ]  # fmt: skip
    tensors = {
        "empty": torch.zeros(0),
        "empty int64": torch.zeros(0, dtype=torch.int64),
        "scalar": torch.tensor(2),
        "scalar float": torch.tensor(0.5),
        "arcs": ARCS,
        "arcs int32": ARCS.int(),
        "arcs int16": ARCS.short(),
        "arcs float": ARCS.float(),
        "arcs turned": ARCS.T,
        "arcs without one": ARCS[:, :0],
        "huge ids": torch.tensor([[0, 2**63 - 1], [-(2**63), 1]]),
        "ids of 2^31": torch.tensor([[0], [2**31 - 1]]),
        "ids beyond 2^32": torch.tensor([[2**32], [1]]),
        "large ids": torch.tensor([[0], [2**31 - 2]]),
        "wrapping": torch.tensor([0, 2**63 - 1, -(2**63), -1, 5]),
        "wrapping batch": torch.tensor([-(2**63), -1, 0, 1, 2**63 - 1]),
        "a late graph": torch.tensor([0, 0, 0, 0, 10**8]),
        "a later graph": torch.tensor([0, 0, 0, 0, 2**31 - 2]),
        "vertices": torch.tensor([0, 1]),
        "vertex twice": torch.tensor([1, 1]),
        "batch": torch.tensor([0, 0, 1, 1, 1]),
        "ptr": torch.tensor([0, 5]),
        "labels": torch.tensor([0, 0, 1]),
        "negative": torch.tensor([-1, -2, -3, -4, -5]),
        "weights": numbers + 1,
        "weights with 0": numbers,
        "NaN": numbers / 0 - numbers / 0,
        "inf": numbers + torch.inf,
        "tiny weights": (numbers.double() + 1) * 1e-310,
        "large weights": (numbers.double() + 1) * 1e300,
        "int64 beyond 2^53": torch.tensor([2**53 + 1] * 5),
        "uint8": torch.ones(5, dtype=torch.uint8),
        "uint64": torch.ones(5, dtype=torch.uint64),
        "bool": torch.ones(5, dtype=torch.bool),
        "half": torch.ones(5, dtype=torch.float16),
        "float8": torch.ones(5).to(torch.float8_e5m2),
        "complex": torch.ones(5, dtype=torch.complex64),
        "requires grad": torch.ones(5, requires_grad=True),
        "grad of an operation": torch.ones(5, requires_grad=True) * 2,
        "parameter": torch.nn.Parameter(torch.ones(5)),
        "lazy": torch.nn.parameter.UninitializedParameter(),
        "expanded": torch.ones(1).expand(5),
        "strided": torch.arange(10.0)[1::2],
        "column": torch.ones(5, 1),
        "meta": torch.ones(5, device="meta"),
        "meta arcs": ARCS.to("meta"),
        "fake": fake,
        "fake arcs": fake_arcs,
        "sparse": torch.eye(5).to_sparse(),
        "sparse vector": numbers.to_sparse(),
        "sparse csr": torch.eye(5).to_sparse_csr(),
        "sparse arcs": ARCS.to_sparse(),
        "nested": nested,
        "jagged": jagged,
        "quantized": torch.quantize_per_tensor(numbers, 1.0, 0, torch.quint8),
        "quantized arcs": torch.quantize_per_tensor(ARCS.float(), 1.0, 0, torch.qint32),
    }
    shown: dict[str, Any] = {}
    for value in plain:
        try:
            name = torchcent.check._common.shortened(value)
        except Exception:
            name = type(value).__name__
        shown[f"{name[:40]} {type(value).__name__} {len(shown)}"] = value
    return shown | tensors


def spoilt(target: Target) -> list[str]:
    """The arguments that can be spoiled, and what a Run among them may hold."""
    known = list(inspect.signature(target.call).parameters)
    return known + [f"run.{name}" for name in OF_RUN if "run" in known]


def fault(name: str, target: Target, wrong: dict[str, Any]) -> str | None:
    """What is wrong with the answer to a call; None if nothing is."""
    arguments = {**target.good, **wrong}
    if callable(arguments.get("decay")):  # whatever it calls may raise
        return None
    try:
        if "run" in inspect.signature(target.call).parameters:
            arguments.setdefault("run", run_of(arguments))
        # A path may be any text: what is written under a relative one goes to a folder of its own.
        with warnings.catch_warnings(), contextlib.chdir(ELSEWHERE.name):
            warnings.simplefilter("ignore")
            answer = target.call(**arguments)
            if inspect.isgenerator(answer):
                deque(itertools.islice(answer, 100), 0)
    except ALLOWED as error:
        said = str(error)
        if any(part in said for part in RAW):
            return f"raw {type(error).__name__}: {said[:200]}"
        if len(said) > 1500 and not {"path", "coordinates"} & set(wrong):
            return f"{len(said)} characters of {type(error).__name__}: {said[:80]}"
        if not any(word in said for word in words(wrong)):
            return f"{type(error).__name__} that names no argument: {said[:200]}"
        return None
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {str(error)[:200]} ({where.filename}:{where.lineno})"
    return None


def run_of(arguments: dict[str, Any]) -> torchcent.Run:
    """A Run of the arguments that are for one, which are taken out of them."""
    held: dict[str, Any] = {"memory": BOUND, "progress": False}
    for name in OF_RUN:
        if f"run.{name}" in arguments:
            held[name] = arguments.pop(f"run.{name}")
    return torchcent.Run(**held)


def words(wrong: dict[str, Any]) -> set[str]:
    """Words of which an error about these arguments has one."""
    found = {name.removeprefix("run.") for name in wrong}
    if "edge_index" in wrong:
        found |= {"Graph", "vert", "edge_weight", "column", "positions"}  # what does not fit
    if {"batch", "ptr", "num_nodes", "memory", "sources"} & found:
        found |= {"vertices", "graphs", "Graph", "memory"}
    if {"back", "x"} & set(wrong):  # of a HeteroData
        found |= {"edge_index", "data["}
    if {"first", "second"} & set(wrong):
        found |= {"clustering"}
    if "width" in wrong:  # of windows, the step by default
        found |= {"step"}
    if "shape" in wrong:  # (num_graphs, max_nodes)
        found |= {"max_nodes"}
    if "edge_weight" in wrong:
        found |= {"weight"}
    if "stored_weight" in wrong:  # the attribute of a Data
        found |= {"edge_weight"}
    if {"comments", "skip", "header"} & found:  # other rows count, of which the file is at fault
        found |= {"in.txt:"}
    if {"name", "run", "engine"} & found:  # the name of an Engine
        found |= {"engine", "strategy"}
    for file in ("path", "coordinates", "source"):  # what a file holds, and where it would go
        if isinstance(wrong.get(file), str):
            found |= {wrong[file], repr(wrong[file])}
    return found


def single() -> Iterator[tuple[str, Target, dict[str, Any]]]:
    """Each argument of each function with each value."""
    pool = values()
    for name, target in targets().items():
        for argument in spoilt(target):
            for value in pool.values():
                yield name, target, {argument: value}


def bounded() -> None:
    """No more is free than this, whatever the machine has: sizes beyond are refused at once."""
    torchcent.runtime._memory._free = lambda device: 2 * BOUND  # type: ignore[assignment]


def run(seconds: float, seed: int) -> Counter[str]:
    """Spoils one to three arguments at a time; prints what is wrong and counts calls and faults."""
    bounded()
    draw, pool, known = random.Random(seed), values(), targets()
    count: Counter[str] = Counter()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        name = draw.choice(list(known))
        target = known[name]
        open_to = spoilt(target)
        chosen = draw.sample(open_to, min(len(open_to), draw.choice([1, 2, 2, 3])))
        keys = {argument: draw.choice(list(pool)) for argument in chosen}
        if len(keys) > 1:  # or a size might be allowed that there is not
            keys.pop("run.memory", None)
        count["calls"] += 1
        found = fault(name, target, {argument: pool[key] for argument, key in keys.items()})
        if found is not None:
            count["faults"] += 1
            print(f"{name} with {keys}: {found}", flush=True)
    return count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    count = run(options.seconds, options.seed)
    print(f"{count['calls']} calls, {count['faults']} faults")
    return 1 if count["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
