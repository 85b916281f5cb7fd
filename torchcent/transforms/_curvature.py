"""Transforms that add the curvature of edges, and rewire by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _curvature as check_curvature
from torchcent.check import _data as check_data
from torchcent.check import _values as check_values
from torchcent.check._run import DEFAULT, Run
from torchcent.curvature._forman import forman_curvature
from torchcent.curvature._ollivier import ollivier_ricci_curvature
from torchcent.curvature._resistance import resistance_curvature
from torchcent.curvature._sdrf import sdrf
from torchcent.gnn import _stores
from torchcent.transforms._base import EdgeTypes, _OfGraphs, functional_transform, of_kinds

#: kind -> the function, and its own arguments
_CURVATURES: dict[str, tuple[Callable[..., Tensor], dict[str, Any]]] = {
    "forman": (forman_curvature, {}),
    "augmented": (forman_curvature, {"kind": "augmented"}),
    "balanced": (forman_curvature, {"kind": "balanced"}),
    "ollivier": (ollivier_ricci_curvature, {}),
    "resistance": (resistance_curvature, {}),
}


@functional_transform("add_curvature")
class AddCurvature(_OfGraphs):
    """Adds the curvature of edges as an edge feature (functional name: ``add_curvature``).

    Args:
        kind: "forman", "augmented" or "balanced" for those of :func:`torchcent.forman_curvature`,
            "ollivier" for :func:`torchcent.ollivier_ricci_curvature`, "resistance" for
            :func:`torchcent.resistance_curvature`.
        attr_name: attribute for the curvature, [E], one per column of edge_index. None appends it
            to ``data.edge_attr`` as another column, in its dtype and on its device (or creates
            ``data.edge_attr``, [E, 1]).
        edge_weight: edge attribute that holds the weights that the function of the kind takes; None
            uses 1 for all edges.
        directed: None uses the arcs of edge_index, each of which needs its reverse, False adds
            missing reverse arcs.
        edge_types, run: as for :class:`AddCentrality`, also for batches and HeteroData.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from torchcent.transforms import AddCurvature
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> AddCurvature("forman")(path).edge_curvature
        tensor([1., 1., 1., 1.])
    """

    _functions = of_kinds({kind: each for kind, (each, _) in _CURVATURES.items()}, "kind")

    def __init__(
        self,
        kind: str = "balanced",
        attr_name: str | None = "edge_curvature",
        edge_weight: str | None = None,
        *,
        directed: bool | None = None,
        edge_types: EdgeTypes | None = None,
        run: Run = DEFAULT,
    ) -> None:
        super().__init__(
            edge_weight, directed, edge_types, run,
            kind=check.choice(kind, "kind", tuple(_CURVATURES)),
            attr_name=check_data.attribute(attr_name, "edges"),
        )  # fmt: skip

    def _add(self, data: Any, graph: _stores.Graph) -> None:
        function, own = _CURVATURES[self.kind]
        curvature = function(**self._options(graph, torch.float64), **own)
        _stores.give_edges(data, graph, curvature, self.attr_name, self._dtype())


@functional_transform("sdrf")
class SDRF(_OfGraphs):
    """Rewires the graph by stochastic discrete Ricci flow (functional name: ``sdrf``).

    Args:
        iterations, tau, removal_bound: as in :func:`torchcent.sdrf`.
        seed: of the draws, the same for every call; None draws from torch's global generator.
        directed: None uses the arcs of edge_index, each of which needs its reverse, False adds
            missing reverse arcs.
        run: as for :class:`AddCentrality`.

    The new ``edge_index`` is that of :func:`torchcent.sdrf`: sorted, without loops and repeated
    arcs. Other attributes of edges keep the values of edges that stay, and are 0 for new ones. Each
    graph of a Batch is rewired alone. A HeteroData is refused.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from torchcent.transforms import SDRF
        >>> two_triangles = torch.tensor([[0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5]])
        >>> rewire = SDRF(iterations=2, seed=0, directed=False)
        >>> rewire(Data(edge_index=two_triangles, num_nodes=6)).num_edges
        18
    """

    attr_name = None

    def __init__(
        self,
        iterations: int = 10,
        tau: float = 1.0,
        removal_bound: float | None = None,
        seed: int | None = None,
        *,
        directed: bool | None = None,
        run: Run = DEFAULT,
    ) -> None:
        steps, temperature, bound = check_curvature.rewiring(iterations, tau, removal_bound)
        super().__init__(
            None, directed, None, run, iterations=steps, tau=temperature, removal_bound=bound,
            seed=None if seed is None else check_values.seed(seed),
        )  # fmt: skip
        self._names = ("iterations", "tau", "removal_bound", "seed", "directed")

    def _replaces_edges(self) -> bool:
        return True

    def forward(self, data: Any) -> Any:
        if hasattr(data, "edge_types"):
            raise TypeError("SDRF is for a torch_geometric Data or Batch, got a HeteroData")
        return super().forward(data)

    def _add(self, data: Any, graph: _stores.Graph) -> None:
        options = self._unweighted(graph)
        generator = None
        if self.seed is not None:
            generator = torch.Generator().manual_seed(self.seed)
        index = sdrf(
            **options, iterations=self.iterations, tau=self.tau,
            removal_bound=self.removal_bound, generator=generator,
        )  # fmt: skip
        _stores.rewire(data, graph, index)
