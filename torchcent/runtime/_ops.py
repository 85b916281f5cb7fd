"""Loads the compiled operators and registers their fakes (shapes for tracing and opcheck)."""

import functools
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

PACKAGE = Path(__file__).parents[1]
ops = torch.ops.torchcent
simd: str | None = None
"""Instruction set of the CPU kernels in use; None without the compiled extension."""


def is_stale(library: Path, sources: Path) -> bool:
    """Returns whether any source of the library is newer than the library.

    Only an in-place installation has sources, and only there can the Python part be newer than the
    library. CUDA sources belong to the CUDA library only.
    """
    compiled, cuda = library.stat().st_mtime, "CUDA" in library.name
    return any(
        path.stat().st_mtime > compiled
        for path in sources.rglob("*.*")
        if cuda or not ("cuda" in path.parts or path.suffix in (".cu", ".cuh"))
    )


def _load(library: Path) -> None:
    torch.ops.load_library(library)
    if is_stale(library, PACKAGE.parent / "csrc"):
        warnings.warn(
            f"torchcent's compiled library {library.name} is older than its sources: results may "
            "be wrong. Compile it again with `pip install -e .`.",
            RuntimeWarning,
            stacklevel=2,
        )


# Another build of the same sources, such as one made by tools/sanitize.py.
_library = Path(os.environ.get("TORCHCENT_LIBRARY") or PACKAGE / "_C.abi3.so")

without: str | None = None
"""Why there is no compiled extension; None where it is loaded."""
if os.environ.get("TORCHCENT_NO_EXTENSION", "") not in ("", "0"):
    without = "TORCHCENT_NO_EXTENSION is set"
elif not _library.exists() and (PACKAGE / "installed_without_extension").exists():
    without = "installed with TORCHCENT_NO_EXTENSION=1"
else:
    try:
        _load(_library)
        _level = ops.simd()
    except OSError as error:
        raise ImportError(
            f"torchcent's compiled library {_library.name} could not be loaded: {error}. "
            "Build it with `pip install .` in a checkout, with torch>=2.10 installed and g++ at "
            "hand; inside a checkout only `pip install -e .` puts it where it can be found. "
            "With TORCHCENT_NO_EXTENSION=1 in the environment, of the installation or of the "
            'program, torchcent runs without it, on engine="tensor" alone.'
        ) from error
    if _level < 0:
        _limit = os.environ.get("TORCHCENT_SIMD")
        raise ImportError(
            f"torchcent's compiled library {_library.name} has kernels for one kind of processor "
            f"only, which is not this one{f' with TORCHCENT_SIMD={_limit}' if _limit else ''}: it "
            "was built with TORCHCENT_KERNELS=native, as by `make demo`. `pip install .` in a "
            "checkout builds it for all."
        )
    simd = ("portable", "avx2", "avx512")[_level]

available = simd is not None
cuda = False
"""Whether the CUDA kernels are loaded. They are a separate library, for CUDA builds of PyTorch."""

_cuda_library = PACKAGE / "_CUDA.abi3.so"
if available and torch.version.cuda is not None and _cuda_library.exists():
    try:
        _load(_cuda_library)
        cuda = True
    except OSError as error:
        warnings.warn(
            f"torchcent's CUDA library {_cuda_library.name} could not be loaded, so that graphs on "
            f'CUDA run on engine="tensor" alone: {error}. A library serves one major version of '
            f"CUDA; this PyTorch has {torch.version.cuda}.",
            stacklevel=2,
        )


@functools.cache
def _compiled(name: str, kind: str) -> bool:
    if not hasattr(ops, name):
        return False
    return torch._C._dispatch_has_kernel_for_dispatch_key(f"torchcent::{name}", kind.upper())


def has_kernel(name: str, device: torch.device) -> bool:
    """Returns whether this operator is compiled for the device."""
    return available and _compiled(name, device.type)


def _sized(like: Tensor, size: Any, dtype: torch.dtype = torch.int64) -> Tensor:
    found: Tensor = like.new_empty(size, dtype=dtype)
    return found


def _unknown_size() -> Any:
    return torch.library.get_ctx().new_dynamic_size()


def _fake_read_rows(
    text: Tensor, separator: int, width: int, source: int, target: int, weight: int, *_: object
) -> tuple[Tensor, ...]:
    rows = _unknown_size()
    return (
        _sized(text, (2, rows)),
        _sized(text, rows if weight >= 0 else 0, torch.float64),
        _sized(text, (_unknown_size(), 2)),
        _sized(text, _unknown_size()),
    )


def _fake_read_vectors(text: Tensor, *_: object) -> tuple[Tensor, ...]:
    entries = _unknown_size()
    return (
        _sized(text, (2, entries)),
        _sized(text, entries, torch.float64),
        _sized(text, _unknown_size()),
    )


def _fake_distinct_ids(source: Tensor, *_: object) -> Tensor:
    return _sized(source, _unknown_size())


def _fake_id_places(labels: Tensor, source: Tensor, *_: object) -> Tensor:
    return _sized(source, (2, source.numel()))


def _fake_vertex_ids(edge_index: Tensor, threads: int = 1) -> tuple[Tensor, ...]:
    return _sized(edge_index, edge_index.shape, torch.int32), _sized(edge_index, 2)


def _fake_csr(ids: Tensor, num_nodes: int, symmetric: bool, threads: int = 1) -> tuple[Tensor, ...]:
    return _sized(ids, num_nodes + 1), _sized(ids, _unknown_size(), torch.int32)


def _fake_slots(ids: Tensor, *_: object) -> Tensor:
    return _sized(ids, ids.shape[1])


def _fake_slot_weights(
    ids: Tensor, weight: Tensor, rowptr: Tensor, col: Tensor, *_: object
) -> Tensor:
    return _sized(rowptr, col.numel(), torch.float64)


def _fake_weight_digits(weight: Tensor, most: int = 0) -> Tensor:
    return _sized(weight, 3, torch.float64)


def _fake_stored_fault(rowptr: Tensor, *_: object) -> Tensor:
    return _sized(rowptr, 2)


def _fake_transpose(rowptr: Tensor, col: Tensor, threads: int = 1) -> tuple[Tensor, ...]:
    return torch.empty_like(rowptr), torch.empty_like(col), _sized(rowptr, col.numel())


def _fake_reverse_slots(rowptr: Tensor, col: Tensor, threads: int = 1) -> Tensor:
    return _sized(rowptr, col.numel())


def _fake_induced(
    rowptr: Tensor, col: Tensor, kept: Tensor, slots: bool = True, threads: int = 1
) -> tuple[Tensor, ...]:
    size = _unknown_size()
    return (
        _sized(rowptr, kept.numel() + 1),
        _sized(rowptr, size, torch.int32),
        _sized(rowptr, size if slots else 0),
    )


def _fake_per_vertex(rowptr: Tensor, *_: object) -> Tensor:
    return _sized(rowptr, rowptr.numel() - 1)


def _fake_fold(rowptr: Tensor, col: Tensor, recursive: bool) -> tuple[Tensor, ...]:
    return _sized(rowptr, _unknown_size()), _sized(rowptr, rowptr.numel() - 1)


def _fake_twins(rowptr: Tensor, *_: object) -> tuple[Tensor, ...]:
    n = rowptr.numel() - 1
    lists = (_sized(rowptr, (2, _unknown_size())) for _ in range(2))
    return _sized(rowptr, n), _sized(rowptr, n, torch.float64), _sized(rowptr, n), *lists


def _fake_chains(
    rowptr: Tensor, col: Tensor, weight: Tensor | None, ball: int, loops: bool = False
) -> tuple[Tensor, ...]:
    kept, chains, inner, arcs = (_unknown_size() for _ in range(4))
    whole = weight is None or weight.dtype == torch.int32
    return (
        _sized(rowptr, kept),
        _sized(rowptr, chains + 1),
        _sized(rowptr, inner),
        _sized(rowptr, 2 * chains, torch.int32),
        _sized(rowptr, inner + chains, torch.int32 if whole else torch.float64),
        _sized(rowptr, kept + 1),
        _sized(rowptr, arcs, torch.int32),
        _sized(rowptr, arcs),
        _sized(rowptr, 2 * (inner + chains)),
    )


def _fake_blocks(rowptr: Tensor, col: Tensor) -> tuple[Tensor, ...]:
    n = rowptr.numel() - 1
    return _sized(rowptr, _unknown_size()), _sized(rowptr, n), _sized(rowptr, _unknown_size())


def _fake_block_union(rowptr: Tensor, *_: object) -> tuple[Tensor, ...]:
    size, slots = _unknown_size(), _unknown_size()
    return (
        _sized(rowptr, _unknown_size()),
        _sized(rowptr, size),
        _sized(rowptr, size + 1),
        _sized(rowptr, slots, torch.int32),
        _sized(rowptr, slots),
    )


def _fake_block_reach(ptr: Tensor, vertex: Tensor, *_: object) -> tuple[Tensor, ...]:
    return tuple(_sized(vertex, vertex.numel(), torch.float64) for _ in range(4))


def _fake_of_parents(order: Tensor, parent: Tensor, *_: object) -> Tensor:
    return _sized(parent, parent.numel(), torch.float64)


def _fake_folded_sums(order: Tensor, parent: Tensor, *_: object) -> tuple[Tensor, Tensor]:
    return _fake_of_parents(order, parent), _fake_of_parents(order, parent)


def _fake_of_labels(label: Tensor, *_: object) -> Tensor:
    return _sized(label, label.numel(), torch.float64)


def _fake_id_faults(ids: Tensor, num_nodes: int) -> Tensor:
    return torch.empty(3, dtype=torch.int64, device="cpu")  # on the host, whatever the device


def _fake_search_weights(rowptr: Tensor, vertex: Tensor, *_: object) -> tuple[Tensor, ...]:
    of_sources = (_unknown_size(),)
    return (
        _sized(rowptr, of_sources),
        _sized(rowptr, of_sources, torch.float64),
        _sized(rowptr, of_sources, torch.float64),
        _sized(rowptr, vertex.numel(), torch.float64),
        _sized(rowptr, vertex.numel(), torch.float64),
    )


def _fake_eliminated(
    ends: Tensor, conductance: Tensor, num_nodes: int, *_: object
) -> tuple[Tensor, ...]:
    left, gone, entries = _unknown_size(), _unknown_size(), _unknown_size()
    return (
        _sized(ends, num_nodes),
        _sized(ends, (left, left), torch.float64),
        _sized(ends, _unknown_size()),
        _sized(ends, entries, torch.int32),
        _sized(ends, entries, torch.float64),
        _sized(ends, gone, torch.float64),
    )


def _fake_expanded(
    inverse: Tensor, ptr: Tensor, neighbour: Tensor, share: Tensor, own: Tensor, *_: object
) -> Tensor:
    size = inverse.shape[0] + own.numel()
    return _sized(inverse, (size, size), torch.float64)


def _fake_selected(
    inverse: Tensor, ptr: Tensor, neighbour: Tensor, share: Tensor, own: Tensor
) -> Tensor:
    return _sized(inverse, (2, inverse.shape[0] + own.numel()), torch.float64)


def _fake_row_spreads(rows: Tensor, u: Tensor, *_: object) -> Tensor:
    return _sized(u, u.numel(), torch.float64)


def _fake_depths(rowptr: Tensor, col: Tensor, source: int) -> Tensor:
    return _sized(rowptr, rowptr.numel() - 1, torch.int32)


def _fake_in_place(*_: object) -> None:
    """For operators that only write to their arguments."""


def _fake_flag(*_: object) -> Tensor:
    return torch.empty(1, dtype=torch.int64, device="cpu")  # on the host, whatever the device


def _fake_numbers(*_: object) -> Tensor:
    found: Tensor = torch.empty(_unknown_size(), dtype=torch.int64, device="cpu")
    return found


def _fake_search_summary(rowptr: Tensor, col: Tensor, sources: Tensor, *_: object) -> Tensor:
    return _sized(sources, (sources.numel(), 3))


def _fake_mcl_iterate(begin: Tensor, length: Tensor, *_: object) -> tuple[Tensor, ...]:
    entries = _unknown_size()
    return (
        torch.empty_like(begin),
        torch.empty_like(length),
        _sized(begin, entries, torch.int32),
        _sized(begin, entries, torch.float32),
        torch.empty(8, dtype=torch.float64, device="cpu"),  # on the host, whatever the device
    )


def _fake_codes(like: Tensor) -> Tensor:
    found: Tensor = like.new_empty(_unknown_size(), dtype=torch.float64)
    return found


if available:
    _registered = torch.library.Library("torchcent", "FRAGMENT")  # for as long as it is kept
    _fakes: dict[str, Callable[..., Any]] = {
        "codes": _fake_codes,
        "read_rows": _fake_read_rows,
        "read_vectors": _fake_read_vectors,
        "distinct_ids": _fake_distinct_ids,
        "id_places": _fake_id_places,
        "vertex_ids": _fake_vertex_ids,
        "csr": _fake_csr,
        "slots": _fake_slots,
        "slot_weights": _fake_slot_weights,
        "weight_digits": _fake_weight_digits,
        "stored_fault": _fake_stored_fault,
        "transpose": _fake_transpose,
        "reverse_slots": _fake_reverse_slots,
        "components": _fake_per_vertex,
        "by_degree": torch.empty_like,
        "breadth_first": _fake_per_vertex,
        "bandwidth_order": _fake_per_vertex,
        "induced": _fake_induced,
        "fold": _fake_fold,
        "tree_sum": _fake_of_parents,
        "tree_paths": _fake_of_parents,
        "component_totals": _fake_of_labels,
        "folded_sums": _fake_folded_sums,
        "folded_pairs": _fake_of_parents,
        "id_faults": _fake_id_faults,
        "search_weights": _fake_search_weights,
        "blocks": _fake_blocks,
        "twins": _fake_twins,
        "chains": _fake_chains,
        "block_union": _fake_block_union,
        "block_reach": _fake_block_reach,
        "depths": _fake_depths,
        "clusters": _fake_per_vertex,
        "distance_sums": _fake_in_place,
        "source_sums": _fake_in_place,
        "distances": _fake_flag,
        "search_summary": _fake_search_summary,
        "search_order": _fake_in_place,
        "length_order": _fake_in_place,
        "core_numbers": _fake_in_place,
        "triangles": _fake_in_place,
        "eliminated": _fake_eliminated,
        "expanded": _fake_expanded,
        "selected": _fake_selected,
        "row_spreads": _fake_row_spreads,
        "row_crossings": _fake_row_spreads,
        "divide": _fake_numbers,
        "path_dependency": _fake_flag,
        "chain_dependency": _fake_flag,
        "weighted_dependency": _fake_flag,
        "weighted_source_sums": _fake_in_place,
        "weighted_distances": _fake_in_place,
        "tiny": _fake_in_place,
        "pair_matrices": _fake_flag,
        "pair_counts": _fake_flag,
        "pair_list": _fake_flag,
        "sample_paths": _fake_numbers,
        "weighted_sample_paths": _fake_numbers,
        "draw_paths": _fake_numbers,
        "weighted_draw_paths": _fake_numbers,
        "closure": _fake_in_place,
        "mcl_iterate": _fake_mcl_iterate,
    }
    for _name, _fake in _fakes.items():
        torch.library.register_fake(f"torchcent::{_name}", _fake, lib=_registered)
