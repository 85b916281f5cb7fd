"""Labels of several files, or of months, under the same numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from torchcent.graph import _labels
from torchcent.io._edge_list import EdgeList


def aligned(edges: EdgeList, before: np.ndarray, path: str) -> EdgeList:
    """The same edges, whose vertices have the places of their labels in `before`.

    New labels follow in the order that they had. Labels of `before` that the file lacks are
    vertices without edges.

    Raises:
        ValueError: the file has names, and `before` integers.
    """
    own = edges.vertex_labels()
    if before.dtype == object and own.dtype == np.int64:
        own = np.array([*map(str, own.tolist()), None], object)[:-1]
    elif before.dtype == np.int64 and own.dtype == object:
        raise ValueError(
            f"{path}: its labels are names, such as {own[0]!r:.40}, and those of labels= are "
            "integers; read both files with text_labels=True"
        )
    place, names = _labels.aligned(own, before)
    index = torch.from_numpy(place)[edges.edge_index]
    positions = None
    if edges.positions is not None:
        positions = torch.full((len(names), 2), torch.nan, dtype=torch.float64, device="cpu")
        positions[torch.from_numpy(place)] = edges.positions
    plain = np.array_equal(names, np.arange(len(names))) if names.dtype == np.int64 else False
    return replace(
        edges, edge_index=index, labels=None if plain else names, num_nodes=len(names),
        positions=positions,
    )  # fmt: skip
