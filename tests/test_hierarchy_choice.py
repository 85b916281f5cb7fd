"""Where `auto` takes a contraction hierarchy, and where another engine is as fast or fits."""

from __future__ import annotations

import pytest
import torch
from graphs import DEVICE

import torchcent
from torchcent import Graph, generate
from torchcent.engines._hierarchy import Hierarchy
from torchcent.runtime import _ops

pytestmark = pytest.mark.skipif(
    not _ops.has_kernel("hierarchy_dependency", DEVICE), reason="needs the compiled kernels"
)


def test_bounds_settle_eccentricities_before_any_contraction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = Graph.from_edge_index(generate.grid(1200, 2), directed=False).to(DEVICE)
    assert torchcent.explain(graph, measure="eccentricity").engine == "hierarchy"
    graph = Graph.from_edge_index(generate.grid(1200, 2), directed=False).to(DEVICE)
    monkeypatch.setattr(Hierarchy, "of", lambda *_: pytest.fail("contracted"))
    farthest = torch.maximum(torch.arange(1200), torch.arange(1200).flip(0)) + 1
    assert torch.equal(torchcent.eccentricity(graph).cpu().view(1200, 2)[:, 0], farthest.float())
