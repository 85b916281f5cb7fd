"""Distances from a batch of sources to every vertex, one row per source."""

import torch
from torch import Tensor

from ._search import out_arcs

# Memory of a search besides its rows: entries of two frontiers, and the arcs processed at a time.
BYTES_PER_NODE = 72
BYTES_PER_ARC = 64
# Arcs processed at a time; on an accelerator enough to keep it busy.
ARCS, ARCS_ON_ACCELERATOR = 2**20, 2**24
# From this share of all entries on, a frontier is read from the rows instead of sorted.
DENSE = 1 / 16


def memory_needed(num_nodes: int, num_slots: int, lanes: int, device: torch.device) -> int:
    """Bytes that :func:`distances` needs for `lanes` sources, besides graph and rows."""
    together = min(lanes * num_slots, _arcs(device) + num_nodes)
    return lanes * num_nodes * BYTES_PER_NODE + together * BYTES_PER_ARC


def distances(rowptr: Tensor, col: Tensor, sources: Tensor, out: Tensor) -> bool:
    """Fills out [k, n] with the number of hops from each source, -1 if unreachable.

    Returns True, and leaves `out` incomplete, if a distance does not fit its dtype.
    """
    lanes, num_nodes = out.shape
    distance = out.view(-1)
    distance.fill_(-1)
    lane = torch.arange(lanes, device=out.device)
    pair = lane * num_nodes + sources
    distance[pair] = 0
    for depth in range(1, max(num_nodes, 1)):
        fits = depth <= torch.iinfo(out.dtype).max
        heads = []
        for part in _parts(rowptr, pair, num_nodes):
            head = _heads(rowptr, col, part, num_nodes)
            head = head[distance[head] < 0]
            if head.numel():
                if not fits:
                    return True
                distance[head] = depth
            heads.append(head)
        new = sum(head.numel() for head in heads)
        if new == 0:
            break
        if new > DENSE * distance.numel():
            pair = torch.nonzero(distance == depth).flatten()
        else:
            pair = torch.unique(torch.cat(heads))
    return False


def _heads(rowptr: Tensor, col: Tensor, pair: Tensor, num_nodes: int) -> Tensor:
    """The pairs at the heads of all arcs out of these pairs (lane * n + vertex)."""
    vertex = pair % num_nodes
    tail, slot = out_arcs(rowptr, vertex)
    return (pair - vertex)[tail] + col[slot]


def _parts(rowptr: Tensor, pair: Tensor, num_nodes: int) -> tuple[Tensor, ...]:
    """Splits the pairs into parts with about as many arcs as are processed at a time."""
    vertex = pair % num_nodes
    before = (rowptr[vertex + 1] - rowptr[vertex]).cumsum(0)
    arcs = int(before[-1])
    together = _arcs(pair.device)
    if arcs <= together:
        return (pair,)
    ends = torch.arange(together, arcs, together, device=pair.device)
    cut = torch.unique(torch.searchsorted(before, ends))
    return torch.tensor_split(pair, cut.cpu())


def _arcs(device: torch.device) -> int:
    return ARCS if device.type == "cpu" else ARCS_ON_ACCELERATOR
