"""Errors about arguments that several families share, raised before anything runs.

The other modules of this package have those of single families. Readers raise errors about the
contents of files, and the plan raises those about limits of engines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral

import numpy as np
import torch
from torch import Tensor

from torchcent.check._graph import Checked
from torchcent.check._values import (
    beside,
    dense,
    integer,
    number,
    of_square,
    shortened,
    whole,
    wrong_type,
    wrong_value,
)  # fmt: skip
from torchcent.check._values import choice as choice
from torchcent.check._values import flag as flag
from torchcent.check._values import within as within
from torchcent.runtime import _ops
from torchcent.runtime._codes import Strategy

ENGINES = ("auto", "lanes", "queue", "hierarchy", "tensor", "tiny", "reference")
DISTANCE_ENGINES = ("auto", "bits", "queue", "hierarchy", "tensor", "tiny", "reference")
ROW_ENGINES = ("auto", "bits", "queue", "hierarchy", "tensor")
DISCONNECTED = ("inf", "component")
STRATEGIES = {
    "auto": Strategy.AUTO,
    "node_parallel": Strategy.NODE_PARALLEL,
    "edge_parallel": Strategy.EDGE_PARALLEL,
    "work_efficient": Strategy.WORK_EFFICIENT,
    "warp_centric": Strategy.WARP_CENTRIC,
    "cooperative": Strategy.COOPERATIVE,
}
# Strategies of the dijkstra engine; "+" combines two of them.
_UNLOCKED = {
    "node_parallel": Strategy.NODE_PARALLEL,
    "work_efficient": Strategy.WORK_EFFICIENT,
    "warp_centric": Strategy.WARP_CENTRIC,
    "node_parallel+warp_centric": Strategy.NODE_PARALLEL_WARP_CENTRIC,
}
WEIGHTED_STRATEGIES: dict[str, int] = {
    "auto": Strategy.AUTO,
    **_UNLOCKED,
    "locked": Strategy.LOCKED,
    **{f"{name}+locked": code + Strategy.LOCKED for name, code in _UNLOCKED.items()},
}
#: exact reductions before the search (engines/blocks; engines/reduce: fold, twins, chains)
REDUCTIONS = ("fold", "blocks", "twins", "chains")
# Vertices from which a permutation of all takes longer than a few draws.
_MANY = 2**16
WARP_SIZES = (4, 8, 16, 32)
DISTANCE_DTYPES = (torch.int8, torch.int16, torch.int32)
MAX_NODES = 2**31 - 1
MAX_BYTES = 2**62  # more memory than any machine has, within int64


def edge_index(value: object, name: str = "edge_index") -> Tensor:
    """Checks for an integer tensor [2, E] with data in memory, and returns it."""
    if not isinstance(value, Tensor):
        raise wrong_type(name, "a torch.Tensor [2, E] or a torchcent.Graph", type(value))
    plain: Callable[[], Tensor] | None = getattr(value, "as_tensor", None)
    if plain is not None:  # an EdgeIndex of torch_geometric
        value = plain()
    dense(value, name)
    if value.dim() != 2 or value.shape[0] != 2:
        hint = of_square(value.shape, f"{name}.to_sparse()")
        raise ValueError(f"{name} must have shape [2, E], got {list(value.shape)}{hint}")
    if value.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"{name} must be int64 (or int32), got {value.dtype}")
    return value


def num_nodes(value: object) -> int | None:
    """The requested number of vertices: at most 2^31 - 1."""
    if value is None:
        return None
    size = integer(value, "num_nodes")
    if size < 0:
        raise wrong_value("num_nodes", ">= 0", size)
    if size > MAX_NODES:
        raise ValueError(
            f"graphs are limited to 2^31 - 1 = {MAX_NODES} vertices (column ids are int32), "
            f"got num_nodes={shortened(size)}"
        )
    return size


def holds_ids(value: int | None, low: int, high: int, named: str = "num_nodes={}") -> int:
    """The number of vertices: as given, or as required by the ids, which range from low to high."""
    if low < 0:
        raise ValueError(f"edge_index must not contain negative vertex ids, got {low}")
    if value is None:
        if high >= MAX_NODES:
            raise ValueError(
                f"edge_index contains vertex id {high}; graphs are limited to 2^31 - 1 = "
                f"{MAX_NODES} vertices (column ids are int32)"
            )
        return high + 1
    if high >= value:
        raise ValueError(
            f"{named.format(value)} is too small: edge_index contains vertex id {high}; "
            f"ids must be in [0, {value})"
        )
    return value


def beside_graph(graph: Checked, num_nodes: object, directed: object, **own: object) -> None:
    """Checks arguments beside a Graph, which has them itself."""
    for name, value in own.items():
        if value is not None:
            raise ValueError(
                f"{name} is for an edge_index; a Graph has its own weights and batch: "
                f"Graph.from_edge_index(edge_index, {name}=...)"
            )
    for name, value in (("num_nodes", num_nodes), ("directed", directed)):
        if value is not None and value != (actual := getattr(graph, name)):
            raise ValueError(
                f"{name}={shortened(value)} contradicts the Graph given, which has "
                f"{name}={actual}; leave it out, or rebuild the Graph"
            )


def no_weight(edge_weight: object, measure: str) -> None:
    if edge_weight is not None:
        raise NotImplementedError(
            f"{measure} does not take edge_weight, which does not matter to it; leave it out"
        )


def reductions(value: object) -> frozenset[str] | None:
    """The names of the reductions to apply; None for "auto"."""
    if isinstance(value, str):
        name = choice(value, "reduce", ("auto", "none", *REDUCTIONS))
        return {"auto": None, "none": frozenset[str]()}.get(name, frozenset((name,)))
    if not isinstance(value, (list, tuple, set, frozenset)):
        raise TypeError(
            f"reduce must be 'auto', 'none', or a list of {', '.join(REDUCTIONS)}; "
            f"got {type(value).__name__}"
        )
    return frozenset(choice(name, "reduce", REDUCTIONS) for name in value)


def strategy(value: object, warp_size: int, engine: str, graph: Checked) -> int:
    """The code of a traversal strategy, which only queue and dijkstra on CUDA have."""
    strategies: Mapping[str, int] = WEIGHTED_STRATEGIES if graph.is_weighted else STRATEGIES
    single = "dijkstra" if graph.is_weighted else "queue"
    name = choice(value, "strategy", tuple(strategies))
    if name != "auto" and (engine not in ("auto", single) or graph.device.type != "cuda"):
        raise ValueError(
            f"strategy={name!r} is for engine={single!r} on CUDA, but engine={engine!r} was given "
            f"and the graph is on {graph.device}; leave Engine(strategy='auto')"
        )
    if "locked" in name and graph.tie_tolerance > 0:
        raise ValueError(
            f"strategy={name!r} counts paths while distances fall and cannot detect ties within "
            f"tie_tolerance={graph.tie_tolerance:g}; use one without 'locked', or "
            "Graph.with_ties(tie_tolerance=0)"
        )
    return strategies[name] + (WARP_SIZES.index(warp_size) if "warp_centric" in name else 0)


def float_dtype(value: object) -> torch.dtype:
    if value is None:
        return torch.get_default_dtype()
    if not isinstance(value, torch.dtype) or not value.is_floating_point:
        raise wrong_type("dtype", "a floating-point torch.dtype", value)
    return value


def byte_budget(value: object) -> int | None:
    if value is None:
        return None
    size = number(value, "memory", " of bytes or None")
    if not size > 0 or (size == float("inf") and not isinstance(value, int)):
        raise wrong_value("memory", "a positive number of bytes", value)
    return max(1, int(min(size, MAX_BYTES)))


def top(value: object, graph: Checked) -> int:
    value = integer(value, "top")
    if not 1 <= value <= graph.num_nodes:
        raise ValueError(
            f"top={value} is out of range: accepted are 1 to the number of vertices, "
            f"{graph.num_nodes}"
        )
    return value


def at_most_one(**arguments: object) -> None:
    """Checks that at most one of several mutually exclusive arguments is given."""
    names = [name for name, value in arguments.items() if value is not None]
    if len(names) > 1:
        raise ValueError(f"{' and '.join(names)} exclude each other; pass one of them")


def device(value: object, name: str = "device") -> torch.device:
    """A device that is available."""
    try:
        candidate = torch.device(value)  # type: ignore[call-overload]
        if candidate.type not in ("cpu", "meta"):
            torch.empty(0, device=candidate)
    except (TypeError, ValueError, RuntimeError, AssertionError, OverflowError):
        raise wrong_value(name, "a device of this PyTorch, such as 'cpu'", value) from None
    result: torch.device = candidate
    return result


def random_generator(value: object) -> torch.Generator | None:
    if value is not None and not isinstance(value, torch.Generator):
        raise wrong_type("generator", "a torch.Generator or None", type(value))
    return value


def vertices(
    value: object, name: str, graph: Checked, hint: str = "", *, optional: bool = True
) -> Tensor:
    """Distinct vertex ids, as an int64 tensor on the graph's device.

    The errors about ids end with the hint. If they are optional, None stands for all vertices.
    """
    ids = vertex_ids(_as_tensor(value, name, "of vertex ids"), name, graph.device)
    if ids.dim() != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {list(ids.shape)}")
    if ids.numel() == 0:
        instead = "; pass None for all vertices" if optional else ""
        raise ValueError(f"{name} must not be empty{instead}")
    low, high, repeats = _id_faults(ids, graph.num_nodes)
    ids_within(low, high, graph.num_nodes, name, hint)
    if repeats:
        ordered, count = torch.unique(ids, return_counts=True)
        twice = int(ordered[count.argmax()])
        raise ValueError(f"{name} contains vertex {twice} more than once{hint}")
    return ids


def vertex_ids(value: Tensor, name: str, device: torch.device) -> Tensor:
    """A private copy of vertex ids, int64 on this device."""
    beside(value, name, device)
    dense(value, name)
    whole = not (value.dtype == torch.bool or value.is_floating_point() or value.is_complex())
    if value.numel() and not whole:  # an empty list has no type of its own
        raise TypeError(f"{name} must hold integer vertex ids, got {value.dtype}")
    return value.to(device=device, dtype=torch.int64, copy=True)


def ids_within(low: int, high: int, size: int, name: str, hint: str = "") -> None:
    """Checks the lowest and the highest vertex id."""
    if low < 0 or high >= size:
        wrong = low if low < 0 else high
        raise ValueError(f"{name} contains vertex {wrong}, but ids must be in [0, {size}){hint}")


def vertices_or_weights(value: object, name: str, graph: Checked) -> Tensor:
    """Distinct vertex ids, or as float64 [n] a weight for every vertex, where those are floats."""
    value = _as_tensor(value, name, "of vertex ids")
    if value.is_floating_point():
        dense(value, name)
        if value.numel():
            return per_vertex(value, name, graph)
    # Counts may be meant.
    return vertices(value, name, graph, f"; weights of vertices are floats: {name}.double()")


def ids_beside_weights(sources: Tensor | None, targets: Tensor | None, num_nodes: int) -> None:
    """Refuses ids of all vertices at one end and weights at the other: counts taken for ids.

    Ascending ids, as those of a mask that leaves out no vertex, are no counts.
    """
    if sources is None or targets is None:
        return
    if sources.is_floating_point() == targets.is_floating_point():
        return
    name, other = "targets", "sources"
    ids = targets
    if targets.is_floating_point():
        name, other, ids = "sources", "targets", sources
    if ids.numel() == num_nodes and bool((ids.diff() < 0).any()):
        raise ValueError(
            f"{name} holds the ids of all {num_nodes} vertices, and {other} weights: integers are "
            f"vertex ids, weights are floats, such as {name}.double(), and None is all vertices"
        )


def _as_tensor(value: object, name: str, what: str) -> Tensor:
    try:
        return value if isinstance(value, Tensor) else torch.as_tensor(value, device="cpu")
    except (TypeError, ValueError, RuntimeError):
        kind = type(value).__name__
        raise TypeError(f"{name} must be a tensor {what}, got {kind}") from None


def _id_faults(ids: Tensor, num_nodes: int) -> list[int]:
    """The smallest and the largest id, and how many are repetitions."""
    if _ops.has_kernel("id_faults", ids.device):
        faults: list[int] = _ops.ops.id_faults(ids, num_nodes).tolist()
        return faults
    return [int(ids.min()), int(ids.max()), ids.numel() - torch.unique(ids).numel()]


def per_vertex(value: object, name: str, graph: Checked, *, columns: bool = False) -> Tensor:
    """Finite numbers >= 0, one per vertex: float64 [n], with `columns` also [n, k]."""
    value = _as_tensor(value, name, "with a number for every vertex")
    beside(value, name, graph.device)
    dense(value, name)
    if value.is_complex():
        raise TypeError(f"{name} must hold real numbers, got {value.dtype}")
    n = graph.num_nodes
    if value.shape[:1] != (n,) or value.dim() > 1 + columns:
        accepted = f"[{n}] or [{n}, k]" if columns else f"[{n}]"
        raise ValueError(
            f"{name} must have shape {accepted}, a number for every vertex, got {list(value.shape)}"
        )
    numbers = value.detach().to(device=graph.device, dtype=torch.float64, copy=True)
    low, high = torch.stack(torch.aminmax(numbers)).tolist() if numbers.numel() else (0.0, 0.0)
    if not (low >= 0 and high < torch.inf):
        place = torch.nonzero(~(torch.isfinite(numbers) & (numbers >= 0)))[0].tolist()
        wrong = float(numbers[tuple(place)])
        raise ValueError(f"{name}{place} is {wrong:g}; accepted: finite and >= 0")
    if not torch.isfinite(numbers.sum(0)).all():
        raise ValueError(f"the sum of {name} is beyond float64; divide them by their largest")
    return numbers


def sources(
    value: object, graph: Checked, generator: torch.Generator | None, weighted: bool = False
) -> Tensor | None:
    """None for all vertices, or the pivots: drawn (an int) or named (a tensor); or, where sources
    may be weighted, a weight for every vertex."""
    if value is None:
        return None
    if isinstance(value, bool):
        raise TypeError("sources must be None, an int or a tensor of vertex ids, got a bool")
    if isinstance(value, Integral):
        value = int(value)
        if graph.ptr is None and not 1 <= value <= graph.num_nodes:
            raise ValueError(
                f"sources={shortened(value)} pivots cannot be drawn from {graph.num_nodes} "
                f"vertices; accepted are 1 to {graph.num_nodes}"
            )
        if value < 1:
            raise ValueError(
                f"sources={shortened(value)} pivots cannot be drawn; accepted are 1 and more"
            )
        single = graph.ptr is None
        drawn = distinct(graph.num_nodes, value if single else graph.num_nodes, generator)
        drawn = drawn.to(graph.device)
        if graph.batch is not None and graph.ptr is not None:  # the first ones of each graph
            drawn = drawn[torch.argsort(graph.batch[drawn], stable=True)]
            place = torch.arange(graph.num_nodes, device=graph.device)
            drawn = drawn[place - graph.ptr[graph.batch] < value]
        return None if drawn.numel() == graph.num_nodes else drawn
    return (vertices_or_weights if weighted else vertices)(value, "sources", graph)


def distinct(n: int, k: int, generator: torch.Generator | None) -> Tensor:
    """int64 [k]: random numbers below n without repetitions, in random order.

    Few of many are drawn one after the other, which takes O(k); of these, repetitions are left out.
    """
    where = generator.device if generator is not None else torch.device("cpu")
    if n < _MANY or k > n // 16:
        return torch.randperm(n, generator=generator, device=where)[:k]
    ids = np.empty(0, np.int64)
    while len(ids) < k:
        drawn = torch.randint(n, (k,), generator=generator, device=where).cpu().numpy()
        ids = np.concatenate([ids, drawn])
        ids = ids[np.sort(np.unique(ids, return_index=True)[1])]
    return torch.from_numpy(ids[:k])


def positive(value: object, name: str, most: int | None = None) -> int | None:
    return None if value is None else whole(value, name, most)


def tolerance(value: object) -> float:
    return within(value, "tol", "(0, 1)")


def iterations(value: object) -> int:
    return whole(value, "max_iter", 10**6)


def kernel(engine: str, operator: str, device: torch.device) -> None:
    """Checks that the operator of this engine is compiled for the device."""
    if _ops.has_kernel(operator, device):
        return
    if not _ops.available:
        raise ValueError(
            f"engine={engine!r} needs the compiled extension; use Run(engine='tensor')"
        )
    raise ValueError(
        f"engine={engine!r} has no compiled kernels for {device}; use Run(engine='tensor') or move "
        "the graph"
    )


def finds_distances(engine: str, device: torch.device) -> bool:
    """Whether an engine that has distances by hops has them on this device."""
    return engine != "queue" or device.type == "cuda"


def distance_kernel(engine: str, operator: str, device: torch.device) -> None:
    """Checks that the operator of this engine for distances is compiled for the device."""
    kernel(engine, operator, device)
    if not finds_distances(engine, device):
        raise ValueError(
            "engine='queue' searches for distances on CUDA only; use Run(engine='bits'), or leave "
            "Run(engine='auto')"
        )


def undirected(graph: Checked, measure: str) -> None:
    if not graph.is_symmetric:
        raise ValueError(
            f"{measure} is for undirected graphs, but in this one an arc has no reverse arc of the "
            "same weight; directed=False adds those that are missing"
        )
