"""Memory accounting: what a graph and its cores hold, and what runs on CUDA need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchcent.engines.reduce import _fold
from torchcent.engines.reduce._core import Core
from torchcent.graph import Graph
from torchcent.graph._cache import storages, tensors
from torchcent.runtime import _memory, _ops
from torchcent.runtime._codes import ENGINE
from torchcent.runtime._workspace import workspace

if TYPE_CHECKING:
    pass


def weighted_bytes(num_slots: int, width: int) -> int:
    """Memory that all threads share: the arcs of both directions, which compiled kernels sort."""
    if not _ops.available:
        return 0
    return workspace("weighted", ENGINE["dijkstra"], False, width, 0, num_slots).fixed


def core_bytes(core: Core) -> int:
    """Memory of the graph that is searched."""
    arcs = core.rowptr, core.col, core.colptr, core.row, core.slot
    parts = {id(part): part for part in tensors((*arcs, core.weight, core.back_weight))}
    on_host = core.weight is not None and core.rowptr.device.type == "cpu"
    shared = weighted_bytes(core.num_slots, core.weight.itemsize) if on_host else 0  # type: ignore[union-attr]
    return shared + sum(part.numel() * part.element_size() for part in parts.values())


# --- CUDA

# PyTorch's allocator rounds sizes up to 512 bytes. A tensor of 10 MiB or more is cut from a block
# rounded up to 2 MiB; a remainder of up to 1 MiB stays with the tensor.
_PIECE, _FROM, _BLOCK, _LEFT = 512, 10 * 2**20, 2**21, 2**20
# Further memory of a run: workspace of sorts and scans, and rounding of the kernels' arrays.
_SLACK = 2**22


def allocated(*sizes: int) -> int:
    """Bytes that tensors of these sizes occupy on CUDA."""
    total = 0
    for size in sizes:
        nbytes = -(-size // _PIECE) * _PIECE
        block = -(-size // _BLOCK) * _BLOCK
        total += block if size >= _FROM and block - nbytes <= _LEFT else nbytes
    return total


def held_bytes(graph: Graph) -> int:
    """Bytes of the graph, of everything cached with it, and of its cores."""
    device = graph.device
    sizes = [storage.nbytes() for storage in storages(graph) if storage.device == device]
    return allocated(*sizes) if device.type == "cuda" else sum(sizes)


def limit(graph: Graph, memory: int | None, held: int | None = None) -> int:
    """Bytes that a run on a graph may use, including the graph.

    This is the requested limit, or half of what would be free without the graph. What an earlier
    call or `explain` has prepared therefore affects neither side of the comparison. `held` are its
    :func:`held_bytes`, if they are known.
    """
    if memory is not None:
        return memory
    return _memory.budget(None, graph.device, held_bytes(graph) if held is None else held)


def run_bytes(graph: Graph, core: Core, scores: int, own: int, sources: int, held: int) -> int:
    """Bytes on CUDA that a run holds besides the memory of the kernels.

    These are the `held` bytes of the graph and everything cached with it, weights of vertices and
    of sources (_reduce.Problem), `own` sums and the result, of `scores` bytes.
    """
    vectors = [scores, 8 * own, 8 * core.num_nodes, 8 * core.num_nodes]
    vectors += [8 for slot in (Graph._ones, Graph._zeros) if slot not in graph.cache]
    if core.fold.order.numel():  # what _fold.py keeps
        keys = graph.cache.keys() | core.fold.cache.keys()
        per_vertex = Graph.components, _fold.totals, _fold.sizes
        vectors += [8 * graph.num_nodes for slot in per_vertex if slot not in keys]
    return held + allocated(*vectors, *[8 * sources] * 3) + _SLACK
