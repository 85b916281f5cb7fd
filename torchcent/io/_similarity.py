"""Converts similarities between vertices to distances."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from torchcent.io._edge_list import EdgeList

SIMILARITIES = ("inverse", "log")


def to_distances(edges: EdgeList, formula: str) -> EdgeList:
    """Returns the same edges with similarities s converted to distances d.

    "inverse": d = 1 / s, for counts and strengths. "log": d = -ln(s), for probabilities s < 1; the
    shortest path is then the most probable one.

    Raises:
        ValueError: a similarity has no distance; the message names the first such edge.
    """
    weight = edges.edge_weight
    assert weight is not None
    similarity = weight.double()
    if formula == "inverse":
        _check(edges, similarity, similarity > 0, "--similarity inverse (1 / s) takes s > 0")
        return replace(edges, edge_weight=1 / similarity)
    between = (similarity > 0) & (similarity < 1)
    advice = "--similarity log (-ln s) takes 0 < s < 1, probabilities"
    _check(edges, similarity, between, advice)
    return replace(edges, edge_weight=-torch.log(similarity))


def _check(edges: EdgeList, similarity: Tensor, fits: Tensor, advice: str) -> None:
    wrong = torch.nonzero(~fits).flatten()
    if wrong.numel():
        edge = int(wrong[0])
        raise ValueError(f"{edges.edge_name(edge)} has similarity {similarity[edge]:g}; {advice}")
