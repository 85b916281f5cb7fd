"""shortest_path_lengths: distances from all or some vertices to all others, in blocks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _weights as check_weights
from torchcent.graph import Graph
from torchcent.graph._arguments import as_graph
from torchcent.io._files import replacing
from torchcent.pairs import _blocks, _npy
from torchcent.runtime import _memory


@_memory.reported
def shortest_path_lengths(
    edge_index: Tensor | Graph,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int | None = None,
    directed: bool | None = None,
    sources: Tensor | None = None,
    out: Tensor | str | os.PathLike[str] | None = None,
    dtype: torch.dtype | str = "auto",
    blocks: bool = False,
    block_size: int | None = None,
    engine: str = "auto",
    memory: int | None = None,
    progress: bool | None = None,
) -> Tensor | np.memmap | Iterator[tuple[Tensor, Tensor]]:
    r"""Distances from each source to every vertex: all pairs, or some rows of them.

    .. math:: D_{iv} = d(s_i, v), \quad -1 \text{ where there is no path from } s_i \text{ to } v

    in hops or, with weights, as the length of a shortest path; -1 becomes inf in a floating dtype.

    All pairs of a large graph are too many to hold. A file takes them row by row, ``blocks=True``
    hands them out; either way only blocks are in memory, as large as `memory` allows.

    Args:
        edge_index: int64 [2, E] (both directions of an undirected edge, as in PyG), or a Graph.
            Self-loops are dropped, copies of an arc merged.
        edge_weight: [E], the length of each arc, finite and > 0; None counts hops. Of copies of an
            arc the smallest counts. A Graph has weights of its own.
        num_nodes: n; by default the largest id + 1.
        directed: None follows the arcs given (a Graph: its own setting); False adds missing
            reverse arcs.
        sources: None for all vertices, or a tensor of k different ones; row i belongs to
            sources[i].
        out: None for a new tensor; a tensor [k, n] to fill, contiguous, of one of the dtypes below,
            on the device of the graph or on the host; or the name of a .npy file. The file appears
            when it is complete; after an error or Ctrl-C there is none, or the old one.
        dtype: "auto" takes the narrowest of torch.int8, torch.int16 and torch.int32 that holds all
            distances of the result; or one of these. With weights "auto" takes torch.int32 where
            all of them are whole numbers and (n - 1) times the largest is below 2^30, else
            torch.float64; torch.float32 rounds, and narrower integers need whole weights.
        blocks: True returns an iterator over blocks of rows instead.
        block_size: rows that are computed together; None decides by memory. With the engine "bits"
            a multiple of 512, times the threads on the CPU, is fastest.
        engine: "auto", "bits" (compiled, on the CPU and on CUDA) or "tensor" (any device); with
            weights "auto", "relax", "dijkstra" or "tensor".
        memory: bytes that may be used, the result included unless it is a file, a tensor given, or
            in blocks; None allows half of what is free.
        progress: None shows a bar on a terminal after two seconds; True and False force.

    Returns:
        - Tensor [k, n] on the device of the graph, or `out` if that is a tensor;
        - for a file, numpy.memmap [k, n], opened for reading;
        - with blocks=True, pairs (sources [b], distances [b, n]) in the order of the rows. With
          dtype="auto" a block may have a wider dtype than the ones before.

    Raises:
        TypeError, ValueError: naming the argument, before anything runs.
        MemoryError: with both figures, if `memory` does not allow for the result and one source.
        OverflowError: naming the distance and the dtype, if a dtype that was asked for is too
            narrow; a tensor given holds nothing of use then.
        OSError, FileNotFoundError: if the disk has no room for the file, before anything runs, or
            its directory does not exist.

    O(k (n + m)) time at most, with weights O(k (m + n log n)); k n entries of result.
    Deterministic.

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
    graph = as_graph(edge_index, num_nodes, directed, edge_weight, memory=memory)
    chosen = check.named_sources(sources, graph)
    asked: torch.dtype | None
    known: tuple[torch.dtype, ...]
    if graph.is_weighted:
        asked, known = check_weights.distance_dtype(dtype, out, graph), check_weights.DTYPES
    else:
        asked, known = check.distance_dtype(dtype), check.DISTANCE_DTYPES
    rows = torch.arange(graph.num_nodes, device=graph.device) if chosen is None else chosen
    shape = rows.numel(), graph.num_nodes
    target = check.distance_out(out, shape, asked, graph.device, known)
    if check.flag(blocks, "blocks") and out is not None:
        raise ValueError("blocks=True hands the blocks out; leave out=None")
    size = check.positive(block_size, "block_size")
    way = check_weights.engine(engine, graph, check.ROW_ENGINES, check_weights.ROW_ENGINES)
    budget = check.byte_budget(memory)
    way = _blocks.engine_for(way, graph, rows.numel(), budget)
    if progress is not None:
        check.flag(progress, "progress")

    if isinstance(target, Tensor):
        asked = target.dtype
    start = asked or _blocks.narrowest(_blocks.depth_at_least(graph, chosen))
    elsewhere = isinstance(target, Path) or (target is not None and target.device != graph.device)
    kept, copies = target is None and not blocks, 2 if elsewhere or blocks else 0
    run = _blocks.Blocks(
        graph, rows, way, blocks, start, asked is not None, kept, copies, size, budget
    )
    if blocks:
        return _blocks.one_by_one(run, progress)
    if isinstance(target, Path):
        _npy.check_space(target, shape, start)
        with replacing(target) as file, run.bar(progress) as bar:
            _blocks.streamed(run, _npy.NpyRows(file, target, shape, start), bar)
        found: Tensor | np.memmap | Iterator[tuple[Tensor, Tensor]] = np.load(target, mmap_mode="r")
        return found
    with run.bar(progress) as bar:
        if target is None:
            return _blocks.in_place(run, run.empty(shape[0], graph.device), bar)
        if elsewhere:
            _blocks.streamed(run, _blocks.HostRows(target), bar)
            return target
        return _blocks.in_place(run, target, bar)
