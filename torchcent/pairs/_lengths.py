"""shortest_path_lengths: distances from all or some vertices to all others, in blocks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _pairs as check_pairs
from torchcent.check import _weights as check_weights
from torchcent.check._run import DEFAULT, SEARCHES, Run
from torchcent.distribute._arguments import Scale, scale_of, shown
from torchcent.engines.measures._measures import measure
from torchcent.engines.measures._request import Request
from torchcent.engines.plan import _row_plan
from torchcent.graph import _fixed_point
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.io._files import replacing
from torchcent.pairs import _blocks, _npy, _shared, _streams
from torchcent.pairs._files import check_zarr


@measure("pairs", *SEARCHES, searches=True, kernel=_row_plan.KERNEL)
def shortest_path_lengths(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    directed: bool | None = None,
    sources: Tensor | None = None,
    out: Tensor | str | os.PathLike[str] | None = None,
    dtype: torch.dtype | str = "auto",
    blocks: bool = False,
    block_size: int | None = None,
    run: Run = DEFAULT,
) -> Tensor | np.memmap | Any:
    r"""Distances from each source to every vertex: all pairs, or some rows.

    .. math:: D_{iv} = d(s_i, v), \quad -1 \text{ where there is no path from } s_i \text{ to } v

    in hops or, with weights, as the length of a shortest path. In a floating-point dtype inf
    replaces -1.

    All pairs of a large graph may not fit in memory. With a file as `out` the rows are written to
    disk; with ``blocks=True`` they are returned block by block. In both cases only blocks are in
    memory, as large as `memory` allows.

    Args:
        edge_index: int64 [2, E] (both directions of an undirected edge, as in PyG), a Graph, or a
            graph of another library, a matrix, an array or a table (docs/inputs.md). Self-loops are
            dropped, duplicate arcs are merged.
        edge_weight: [E], the length of each arc, finite and > 0; None counts hops. Of duplicate
            arcs the smallest weight counts. For a graph of another library it may be the name of
            its weights (docs/inputs.md). A Graph has its own weights.
        num_nodes: n; by default the largest id + 1.
        directed: None uses the arcs as given (for a Graph, its own setting); False adds missing
            reverse arcs.
        sources: None for all vertices, or a tensor of k distinct ones; row i belongs to sources[i].
        out: None for a new tensor; a tensor [k, n] to fill, contiguous, of one of the dtypes below,
            on the device of the graph or on the host. It may be the name of a .npy file, or of a
            .zarr array (compressed; needs the zarr package). The file appears when it is complete.
            After an error or Ctrl-C there is no file, or the previous one.
        dtype: "auto" selects the narrowest of torch.int8, torch.int16 and torch.int32 that holds
            all distances of the result; or one of these. With weights "auto" selects torch.int32 if
            all weights are whole numbers and (n - 1) times the largest is below 2^30, else
            torch.float64. torch.float32 rounds, and integer dtypes need whole weights.
        blocks: True returns an iterator over blocks of rows instead.
        block_size: rows that are computed together; None chooses it by memory. With the engine
            "bits" a multiple of 512, times the number of threads on the CPU, is fastest. The engine
            "hierarchy" adds float lengths up in fixed point (docs/hierarchy.md).
        run: how it is computed, see :class:`Run`.

    Returns:
        - Tensor [k, n] on the device of the graph, or `out` if that is a tensor;
        - for a .npy file, numpy.memmap [k, n], for .zarr zarr.Array, opened for reading;
        - with blocks=True, an iterator over pairs (sources [b], distances [b, n]) in the order of
          the rows. With dtype="auto" a block may have a wider dtype than those before it.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it. Raised before any
            computation.
        MemoryError: ``Run(memory=)`` is too small for the result and one source; the message states
            both amounts.
        OverflowError: the requested dtype is too narrow; the message names the distance and the
            dtype. The contents of a given tensor are then undefined.
        OSError, FileNotFoundError: the disk has too little space for the file, or its directory
            does not exist. Raised before any computation.
        ImportError: a .zarr array without the zarr package; the message names the extra.
        ValueError: `checkpoint` is the folder of another run; the message names what differs.

    The time is at most O(k (n + m)), with weights O(k (m + n log n)). The result has k n entries
    and is deterministic.

    Example:
        >>> import torch, torchcent
        >>> arcs = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.shortest_path_lengths(arcs)
        tensor([[ 0,  1,  2,  3],
                [-1,  0,  1,  2],
                [-1, -1,  0,  1],
                [-1, -1, -1,  0]], dtype=torch.int8)
        >>> for rows, distances in torchcent.shortest_path_lengths(arcs, blocks=True, block_size=2):
        ...     print(rows.tolist(), distances.amax(1).tolist())
        [0, 1] [3, 2]
        [2, 3] [1, 0]
        >>> torchcent.shortest_path_lengths(arcs, torch.tensor([0.5, 2, 1]))[:2]
        tensor([[0.0000, 0.5000, 2.5000, 3.5000],
                [   inf, 0.0000, 2.0000, 3.0000]], dtype=torch.float64)

    Source:
        Then et al. 2014, "The more the merrier: efficient multi-source graph traversal";
        McLaughlin and Bader 2015 for all pairs in blocks.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, None, directed, run)
    vertices = check_pairs.named_sources(sources, graph)
    exact_dtype = check_pairs.distance_dtype(dtype, out, graph)
    rows = torch.arange(graph.num_nodes, device=graph.device) if vertices is None else vertices
    shape = rows.numel(), graph.num_nodes
    target = check_pairs.distance_out(out, shape, exact_dtype, graph)
    scale = scale_of(graph, run)
    if check.flag(blocks, "blocks"):
        others = {
            "out": out, "checkpoint": run.checkpoint, "devices": run.devices, "group": run.group,
        }  # fmt: skip
        for name, value in others.items():
            if value is not None:
                raise ValueError(f"blocks=True returns an iterator over blocks; leave {name}=None")
    if isinstance(target, Path) and target.suffix == ".zarr":
        check_zarr(target)
        scale = scale or Scale()
    size = check.positive(block_size, "block_size")
    way = check_weights.engine(run.engine.name, graph, check.ROW_ENGINES, check_weights.ROW_ENGINES)
    if way == "hierarchy":
        graph = _fixed_point.of(graph)
    budget = run.memory
    request = Request(_row_plan.KERNEL.name, way, sources=vertices, memory=budget, scale=scale)
    way = _row_plan.engine_for(way, graph, rows.numel(), budget)

    if isinstance(target, Tensor):
        exact_dtype = target.dtype
    start = exact_dtype or _blocks.narrowest(_blocks.depth_at_least(graph, vertices))
    elsewhere = isinstance(target, Path) or (target is not None and target.device != graph.device)
    keeps, copies = target is None and not blocks, 2 if elsewhere or blocks else 0
    in_order = blocks or (isinstance(target, Path) and target.suffix == ".zarr")
    aside = 0  # results of units on their way to rank 0
    if scale is not None and not isinstance(target, Path):
        aside = 2 * max(_shared.sizes(way, graph, rows.numel()))
    search = _blocks.Blocks(
        graph, rows, engine=way, in_order=in_order, dtype=start, fixed=exact_dtype is not None,
        kept=keeps, copies=copies, block_size=size, memory=budget, aside=aside,
    )  # fmt: skip
    if scale is not None:
        request.begin(graph)
        if isinstance(target, Path):
            return _shared.file(search, target, scale, shown(scale, run.progress))
        return _shared.tensor(search, target, scale, shown(scale, run.progress))
    if blocks:
        return _blocks.one_by_one(search, run.progress)
    if isinstance(target, Path):
        _npy.check_space(target, shape, start)
        with replacing(target) as file, search.bar(run.progress) as bar:
            _streams.streamed(search, _npy.NpyRows(file, target, shape, start), bar)
        array: np.memmap = np.load(target, mmap_mode="r")
        return array
    with search.bar(run.progress) as bar:
        if target is None:
            return _blocks.in_place(search, search.empty(shape[0], graph.device), bar)
        if elsewhere:
            _streams.streamed(search, _streams.HostRows(target), bar)
            return target
        return _blocks.in_place(search, target, bar)
