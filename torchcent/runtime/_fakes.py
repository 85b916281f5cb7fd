"""Fakes of the compiled operators: the shapes and dtypes of results, for tracing and opcheck."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def _sized(like: Tensor, size: Any, dtype: torch.dtype = torch.int64) -> Tensor:
    tensor: Tensor = like.new_empty(size, dtype=dtype)
    return tensor


def _as_many(place: int, dtype: torch.dtype = torch.float64) -> Callable[..., Tensor]:
    """The fake of an operator that returns as many numbers as the argument at this place has."""
    return lambda *values, **_: _sized(values[place], values[place].numel(), dtype)


def _unknown_size() -> Any:
    return torch.library.get_ctx().new_dynamic_size()


def _read_rows(
    text: Tensor, separator: int, width: int, source: int, target: int, weight: int,
    *_: object, **__: object,
) -> tuple[Tensor, ...]:  # fmt: skip
    rows = _unknown_size()
    return (
        _sized(text, (2, rows)),
        _sized(text, rows if weight >= 0 else 0, torch.float64),
        _sized(text, (_unknown_size(), 2)),
        _sized(text, _unknown_size()),
        _sized(text, _unknown_size(), torch.uint8),
    )


def _read_vectors(text: Tensor, *_: object) -> tuple[Tensor, ...]:
    entries = _unknown_size()
    return (
        _sized(text, (2, entries)),
        _sized(text, entries, torch.float64),
        _sized(text, _unknown_size()),
    )


def _name_numbers(
    text: list[Tensor], offsets: list[Tensor], sides: int, *_: object, **__: object
) -> tuple[Tensor, ...]:
    rows = (offsets[0].numel() - 1) * len(text) // sides if offsets[0].numel() else _unknown_size()
    return _sized(offsets[0], (sides, rows)), _sized(offsets[0], _unknown_size())


def _distinct_ids(source: Tensor, *_: object) -> Tensor:
    return _sized(source, _unknown_size())


def _id_places(labels: Tensor, source: Tensor, *_: object) -> Tensor:
    return _sized(source, (2, source.numel()))


def _vertex_ids(edge_index: Tensor, threads: int = 1) -> tuple[Tensor, ...]:
    return _sized(edge_index, edge_index.shape, torch.int32), _sized(edge_index, 2)


def _csr(ids: Tensor, num_nodes: int, symmetric: bool, threads: int = 1) -> tuple[Tensor, ...]:
    flag = torch.empty(1, dtype=torch.int64, device="cpu")
    return _sized(ids, num_nodes + 1), _sized(ids, _unknown_size(), torch.int32), flag


def _slots(ids: Tensor, *_: object) -> Tensor:
    return _sized(ids, ids.shape[1])


def _weight_digits(weight: Tensor, most: int = 0) -> Tensor:
    return _sized(weight, 3, torch.float64)


def _stored_fault(rowptr: Tensor, *_: object) -> Tensor:
    return _sized(rowptr, 2)


def _transpose(rowptr: Tensor, col: Tensor, threads: int = 1) -> tuple[Tensor, ...]:
    return torch.empty_like(rowptr), torch.empty_like(col), _sized(rowptr, col.numel())


def _induced(
    rowptr: Tensor, col: Tensor, kept: Tensor, slots: bool = True, threads: int = 1
) -> tuple[Tensor, ...]:
    size = _unknown_size()
    return (
        _sized(rowptr, kept.numel() + 1),
        _sized(rowptr, size, torch.int32),
        _sized(rowptr, size if slots else 0),
    )


def _per_vertex(rowptr: Tensor, *_: object) -> Tensor:
    return _sized(rowptr, rowptr.numel() - 1)


def _fold(rowptr: Tensor, col: Tensor, recursive: bool) -> tuple[Tensor, ...]:
    return _sized(rowptr, _unknown_size()), _sized(rowptr, rowptr.numel() - 1)


def _twins(rowptr: Tensor, *_: object) -> tuple[Tensor, ...]:
    n = rowptr.numel() - 1
    lists = (_sized(rowptr, (2, _unknown_size())) for _ in range(2))
    return _sized(rowptr, n), _sized(rowptr, n, torch.float64), _sized(rowptr, n), *lists


def _chains(
    rowptr: Tensor, col: Tensor, weight: Tensor | None, ball: int, loops: bool = False
) -> tuple[Tensor, ...]:
    vertices, chains, inner, arcs = (_unknown_size() for _ in range(4))
    whole = weight is None or weight.dtype == torch.int32
    return (
        _sized(rowptr, vertices),
        _sized(rowptr, chains + 1),
        _sized(rowptr, inner),
        _sized(rowptr, 2 * chains, torch.int32),
        _sized(rowptr, inner + chains, torch.int32 if whole else torch.float64),
        _sized(rowptr, vertices + 1),
        _sized(rowptr, arcs, torch.int32),
        _sized(rowptr, arcs),
        _sized(rowptr, 2 * (inner + chains)),
    )


def _rewired(rowptr: Tensor, *_: object) -> Tensor:
    return _sized(rowptr, (2, _unknown_size()))


def _hierarchy_cells(first: Tensor, to: Tensor, length: Tensor, last: Tensor) -> tuple[Tensor, ...]:
    n, cells, bound, child = last.numel(), *(_unknown_size() for _ in range(3))
    sizes = 9 * cells, n, n, n + 1, to.numel(), bound, child, n, 4
    return tuple(
        _sized(first, size, torch.int64 if at in (3, 8) else torch.int32)
        for at, size in enumerate(sizes)
    )


def _hierarchy_levels(first: Tensor, to: Tensor, last: Tensor) -> tuple[Tensor, ...]:
    begin = _sized(first, _unknown_size())
    of_each = (_sized(last, last.numel(), torch.int32) for _ in range(3))
    return next(of_each), begin, *of_each


def _hierarchy_climbs(
    first: Tensor, to: Tensor, length: Tensor, slot: Tensor, last: Tensor, longest: int,
    entries: int, control: Tensor,
) -> tuple[Tensor, ...]:  # fmt: skip
    n, arcs, choice, rows = last.numel(), 4 * to.numel(), _unknown_size(), _unknown_size()
    sizes = n, arcs, arcs, 4 * choice, n, n, n, rows
    wide = (6,) if longest < 2**29 else (6, 7)
    return tuple(
        _sized(first, size, torch.int64 if at in wide else torch.int32)
        for at, size in enumerate(sizes)
    )


def _hierarchy_scores(
    vertex: Tensor, first: Tensor, to: Tensor, length: Tensor, paths: Tensor, powers: Tensor,
    slot: Tensor, own: Tensor, flows: Tensor, reverse: Tensor | None = None,
) -> Tensor:  # fmt: skip
    return _sized(vertex, (vertex if reverse is None else reverse).numel(), torch.float64)


def _hierarchy_order(rowptr: Tensor, *_: object) -> Tensor:
    return _sized(rowptr, _unknown_size())  # nothing, where it gives up


def _symmetric_eigen(matrices: Tensor, vectors: bool, threads: int = 1) -> tuple[Tensor, ...]:
    count, n, _ = matrices.shape
    return matrices.new_empty(count, n), matrices.new_empty(count if vectors else 0, n, n)


def _dense_solve(matrices: Tensor, right: Tensor, threads: int = 1) -> Tensor:
    return torch.empty_like(right)


def _outcome(arcs: list[Tensor], sources: Tensor, *_: object) -> Tensor:
    return torch.empty_like(sources, dtype=torch.int8)


def _hierarchy(rowptr: Tensor, *_: object) -> tuple[Tensor, ...]:
    # Nothing, where it gives up.
    n, ends, arcs = (_unknown_size() for _ in range(3))
    return (
        _sized(rowptr, n),
        _sized(rowptr, ends),
        _sized(rowptr, arcs, torch.int32),
        _sized(rowptr, arcs),
        _sized(rowptr, arcs, torch.float64),
        _sized(rowptr, arcs, torch.int32),
        _sized(rowptr, arcs),
        *(_sized(rowptr, n, torch.int32) for _ in range(3)),
    )


def _blocks(rowptr: Tensor, col: Tensor) -> tuple[Tensor, ...]:
    n = rowptr.numel() - 1
    return _sized(rowptr, _unknown_size()), _sized(rowptr, n), _sized(rowptr, _unknown_size())


def _block_union(rowptr: Tensor, *_: object) -> tuple[Tensor, ...]:
    size, slots = _unknown_size(), _unknown_size()
    return (
        _sized(rowptr, _unknown_size()),
        _sized(rowptr, size),
        _sized(rowptr, size + 1),
        _sized(rowptr, slots, torch.int32),
        _sized(rowptr, slots),
    )


def _block_reach(ptr: Tensor, vertex: Tensor, *_: object) -> tuple[Tensor, ...]:
    return tuple(_sized(vertex, vertex.numel(), torch.float64) for _ in range(4))


def _folded_sums(order: Tensor, parent: Tensor, *_: object) -> tuple[Tensor, ...]:
    return tuple(_sized(parent, parent.numel(), torch.float64) for _ in range(2))


def _id_faults(ids: Tensor, num_nodes: int) -> Tensor:
    return torch.empty(3, dtype=torch.int64, device="cpu")  # on the host, whatever the device


def _search_weights(rowptr: Tensor, vertex: Tensor, *_: object) -> tuple[Tensor, ...]:
    of_sources = (_unknown_size(),)
    return (
        _sized(rowptr, of_sources),
        _sized(rowptr, of_sources, torch.float64),
        _sized(rowptr, of_sources, torch.float64),
        _sized(rowptr, vertex.numel(), torch.float64),
        _sized(rowptr, vertex.numel(), torch.float64),
    )


def _eliminated(
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


def _expanded(
    inverse: Tensor, ptr: Tensor, neighbour: Tensor, share: Tensor, own: Tensor, *_: object
) -> Tensor:
    size = inverse.shape[0] + own.numel()
    return _sized(inverse, (size, size), torch.float64)


def _selected(
    inverse: Tensor, ptr: Tensor, neighbour: Tensor, share: Tensor, own: Tensor
) -> Tensor:
    return _sized(inverse, (2, inverse.shape[0] + own.numel()), torch.float64)


def _depths(rowptr: Tensor, col: Tensor, source: int) -> Tensor:
    return _sized(rowptr, rowptr.numel() - 1, torch.int32)


def _row_sums(rowptr: Tensor, col: object, weight: object, values: Tensor, *_: object) -> Tensor:
    return _sized(values, (rowptr.numel() - 1, *values.shape[1:]), torch.float64)


def _restarting_walk(rowptr: Tensor, *_: object) -> tuple[Tensor, ...]:
    return _sized(rowptr, rowptr.numel() - 1, torch.float64), _sized(rowptr, 1)


def _in_place(*_: object) -> None:
    """For operators that only write to their arguments."""


def _flag(*_: object) -> Tensor:
    return torch.empty(1, dtype=torch.int64, device="cpu")  # on the host, whatever the device


def _numbers(*_: object) -> Tensor:
    numbers: Tensor = torch.empty(_unknown_size(), dtype=torch.int64, device="cpu")
    return numbers


def _search_summary(rowptr: Tensor, col: Tensor, sources: Tensor, *_: object) -> Tensor:
    return _sized(sources, (sources.numel(), 3))


def _mcl_iterate(begin: Tensor, length: Tensor, *_: object) -> tuple[Tensor, ...]:
    entries = _unknown_size()
    return (
        torch.empty_like(begin),
        torch.empty_like(length),
        _sized(begin, entries, torch.int32),
        _sized(begin, entries, torch.float32),
        torch.empty(8, dtype=torch.float64, device="cpu"),  # on the host, whatever the device
    )


def _codes(like: Tensor) -> Tensor:
    codes: Tensor = like.new_empty(_unknown_size(), dtype=torch.float64)
    return codes


FAKES: dict[str, Callable[..., Any]] = {
    "codes": _codes,
    "read_rows": _read_rows,
    "read_vectors": _read_vectors,
    "name_numbers": _name_numbers,
    "distinct_ids": _distinct_ids,
    "id_places": _id_places,
    "vertex_ids": _vertex_ids,
    "csr": _csr,
    "slots": _slots,
    "slot_weights": _as_many(3),
    "slot_sums": _as_many(3),
    "weight_digits": _weight_digits,
    "stored_fault": _stored_fault,
    "transpose": _transpose,
    "reverse_slots": _as_many(1, torch.int64),
    "components": _per_vertex,
    "by_degree": torch.empty_like,
    "breadth_first": _per_vertex,
    "bandwidth_order": _per_vertex,
    "induced": _induced,
    "fold": _fold,
    "tree_sum": _as_many(1),
    "tree_paths": _as_many(1),
    "component_totals": _as_many(0),
    "folded_sums": _folded_sums,
    "folded_pairs": _as_many(1),
    "id_faults": _id_faults,
    "search_weights": _search_weights,
    "blocks": _blocks,
    "twins": _twins,
    "chains": _chains,
    "hierarchy": _hierarchy,
    "block_union": _block_union,
    "block_reach": _block_reach,
    "depths": _depths,
    "clusters": _per_vertex,
    "distance_sums": _in_place,
    "source_sums": _in_place,
    "distances": _flag,
    "search_summary": _search_summary,
    "search_order": _in_place,
    "length_order": _in_place,
    "core_numbers": _in_place,
    "triangles": _in_place,
    "count_cycles": _flag,
    "count_cliques": _flag,
    "count_paths": _flag,
    "count_stars": _flag,
    "edge_cycles": _in_place,
    "ollivier": _in_place,
    "rewired": _rewired,
    "row_sums": _row_sums,
    "restarting_walk": _restarting_walk,
    "sum_of_walks": _restarting_walk,
    "walk_returns": _in_place,
    "walk_pairs": _in_place,
    "laplacian_eigen": _in_place,
    "spectral_sums": _in_place,
    "diffusion_rows": _in_place,
    "symmetric_eigen": _symmetric_eigen,
    "dense_solve": _dense_solve,
    "dynamic_rows": _outcome,
    "dynamic_repair": _outcome,
    "dynamic_lengths": _outcome,
    "dynamic_touched": _in_place,
    "eliminated": _eliminated,
    "expanded": _expanded,
    "selected": _selected,
    "row_spreads": _as_many(1),
    "row_crossings": _as_many(1),
    "divide": _numbers,
    "path_dependency": _flag,
    "reference_dependency": _in_place,
    "reference_sums": _in_place,
    "chain_dependency": _flag,
    "hierarchy_cells": _hierarchy_cells,
    "hierarchy_dependency": _flag,
    "hierarchy_order": _hierarchy_order,
    "hierarchy_scores": _hierarchy_scores,
    "hierarchy_climbs": _hierarchy_climbs,
    "hierarchy_sample_paths": _numbers,
    "hierarchy_sample_arcs": _numbers,
    "hierarchy_draw_paths": _numbers,
    "hierarchy_sums": _in_place,
    "hierarchy_vertex_sums": _in_place,
    "hierarchy_distances": _in_place,
    "hierarchy_levels": _hierarchy_levels,
    "hierarchy_level_sums": _in_place,
    "hierarchy_level_distances": _in_place,
    "weighted_dependency": _flag,
    "weighted_source_sums": _in_place,
    "weighted_vertex_sums": _in_place,
    "weighted_distances": _in_place,
    "tiny": _in_place,
    "pair_matrices": _flag,
    "pair_counts": _flag,
    "pair_list": _flag,
    "nearest_members": _in_place,
    "sample_paths": _numbers,
    "weighted_sample_paths": _numbers,
    "draw_paths": _numbers,
    "weighted_draw_paths": _numbers,
    "closure": _in_place,
    "mcl_iterate": _mcl_iterate,
}
"""The fake of each operator, by name."""
