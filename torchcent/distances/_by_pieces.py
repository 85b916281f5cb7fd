"""Sums of distances in a graph whose components are searched as graphs of a batch."""

from __future__ import annotations

from dataclasses import replace

import torch

from torchcent.distances._run import Sums
from torchcent.graph._pieces import Pieces


def given_order(split: Pieces, found: Sums, levels: bool) -> Sums:
    """Sums of the batch as those of the graph."""
    rank, pairs = split.rank, found.levels
    if levels:
        assert split.graph.ptr is not None and split.graph.batch is not None
        place = torch.nonzero(pairs).flatten()
        first = split.graph.ptr.index_select(0, split.graph.batch.index_select(0, place))
        pairs = pairs.new_zeros(rank.numel() + 1)
        pairs.index_add_(0, place - first, found.levels.index_select(0, place))
    return replace(
        found, total=found.total.index_select(0, rank),
        eccentricity=found.eccentricity.index_select(0, rank), levels=pairs,
    )  # fmt: skip
