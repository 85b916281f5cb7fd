"""A transform that adds the pairs of a diffusion, or replaces the edges by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import torch

from torchcent.check import _common as check
from torchcent.check import _data as check_data
from torchcent.check._run import DEFAULT, Run
from torchcent.check._values import choice, within
from torchcent.diffusion._heat import heat_kernel
from torchcent.diffusion._pagerank import personalized_pagerank
from torchcent.diffusion._rows import DiffusionRows
from torchcent.gnn import _stores
from torchcent.graph import _segments
from torchcent.transforms._base import EdgeTypes, _OfGraphs, functional_transform, of_kinds

_IN_PLACE = "or None, which replaces the edges"
#: method -> the function, and its own argument
_METHODS: dict[str, tuple[Callable[..., DiffusionRows], str]] = {
    "ppr": (personalized_pagerank, "restart"),
    "heat": (heat_kernel, "t"),
}
#: arguments with which the values are those of the function, as pairs beside the edges
_AS_FUNCTION = {
    "top_k": None, "self_loop_weight": None, "normalization_in": "col", "normalization_out": None,
}  # fmt: skip


@functional_transform("add_diffusion")
class AddDiffusion(_OfGraphs):
    """Adds the largest entries of a diffusion as pairs, or in the place of the edges (functional
    name: ``add_diffusion``).

    Args:
        method: "ppr" for :func:`torchcent.personalized_pagerank`, "heat" for
            :func:`torchcent.heat_kernel`.
        attr_name: attribute for the values, [P], beside the pairs as ``{attr_name}_index``, int64
            [2, P]. None replaces ``data.edge_index``, and writes the values to ``data.edge_attr``,
            or to the attribute that `edge_weight` names. Other attributes of edges are removed.
        top_k: entries of each vertex, the largest; None for all.
        restart: for "ppr", ``alpha`` of PyTorch Geometric's ``GDC``.
        t: for "heat", the time.
        eps: bound on the error of an entry, as in :func:`torchcent.personalized_pagerank`.
        self_loop_weight: of a loop that is added to each vertex; None or 0 adds none.
        normalization_in: "sym" for the matrix :math:`D^{-1/2} A D^{-1/2}`, which must be symmetric,
            or "col" for :math:`A D^{-1}`.
        normalization_out: "col" divides the values of each vertex by their sum; None does not.
        edge_weight: edge attribute that holds the *strengths* of edges, such as "edge_weight"; None
            uses 1 for all edges.
        directed: None uses the arcs of edge_index, False adds missing reverse arcs.
        edge_types, run: as for :class:`AddCentrality`, also for batches.

    With a symmetric matrix it is PyTorch Geometric's ``GDC`` with
    ``sparsification_kwargs=dict(method="topk", k=top_k, dim=0)``, in time that is proportional to
    the number of vertices. The pairs of a vertex are arcs to it from those where its entries are,
    so that a layer of a neural network collects from them. A HeteroData is one graph; it needs
    `attr_name`, and gets edge types as from :class:`AddShortestPathEncoding`.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from torchcent.transforms import AddDiffusion
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> found = AddDiffusion(top_k=2)(path)
        >>> found.edge_index
        tensor([[0, 1, 0, 1, 1, 2],
                [0, 0, 1, 1, 2, 2]])
    """

    _functions: ClassVar = {
        name: {**method, "attr_name": name, **_AS_FUNCTION}
        for name, method in of_kinds(
            {k: each for k, (each, _) in _METHODS.items()}, "method"
        ).items()
    }

    def __init__(
        self,
        method: str = "ppr",
        attr_name: str | None = None,
        top_k: int | None = 64,
        *,
        restart: float = 0.15,
        t: float = 5.0,
        eps: float = 1e-4,
        self_loop_weight: float | None = 1.0,
        normalization_in: str = "sym",
        normalization_out: str | None = "col",
        edge_weight: str | None = None,
        directed: bool | None = None,
        edge_types: EdgeTypes | None = None,
        run: Run = DEFAULT,
    ) -> None:
        own: dict[str, Any] = {"method": choice(method, "method", tuple(_METHODS))}
        own["attr_name"] = None
        if attr_name is not None:
            own["attr_name"] = check_data.required_attribute(attr_name, "nodes", _IN_PLACE)
        own["top_k"] = check.positive(top_k, "top_k")
        if method == "ppr":
            own["restart"] = within(restart, "restart", "[1e-6, 1]")
        else:
            own["t"] = within(t, "t", "(0, 1000]")
        own["eps"] = within(eps, "eps", "(0, 1]")
        loop = 0.0 if self_loop_weight is None else self_loop_weight
        loop = within(loop, "self_loop_weight", "[0, 1e100]")
        own["self_loop_weight"] = loop
        own["normalization_in"] = choice(normalization_in, "normalization_in", ("sym", "col"))
        if normalization_out is not None:
            choice(normalization_out, "normalization_out", ("col",))
        own["normalization_out"] = normalization_out
        super().__init__(edge_weight, directed, edge_types, run, **own)

    def _replaces_edges(self) -> bool:
        return self.attr_name is None

    def _add(self, data: Any, graph: _stores.Graph) -> None:
        if self.attr_name is None and hasattr(data, "edge_types"):
            raise ValueError("attr_name=None replaces the edges of a Data; name one for HeteroData")
        options = self._options(graph)
        if self.self_loop_weight:
            options = {**graph.arguments(), "directed": self.directed, "run": options["run"]}
            index, n = graph.edge_index, graph.num_nodes
            weight = graph.weight
            if weight is None:
                weight = torch.ones(index.shape[1], dtype=torch.float64, device=index.device)
            loop = torch.arange(n, device=index.device).expand(2, n)
            options["edge_index"] = torch.cat([index, loop], 1)
            options["edge_weight"] = torch.cat(
                [weight, weight.new_full((n,), self.self_loop_weight)]
            )
        options |= {
            "top_k": self.top_k, "eps": self.eps,
            "normalization": "sym" if self.normalization_in == "sym" else "row",
        }  # fmt: skip
        function, name = _METHODS[self.method]
        rows = function(**options, **{name: getattr(self, name)})
        vertex = torch.repeat_interleave(rows.ptr.diff())
        value = rows.value
        if self.normalization_out == "col":
            sums = _segments.of_segments(rows.ptr, value.double())
            value = (value / sums[vertex]).to(value.dtype)
        pairs = torch.stack([rows.target, vertex])
        if self.attr_name is None:
            _stores.replace_edges(data, graph, pairs, value, self.edge_weight or "edge_attr")
        else:
            _stores.give_pairs(data, graph, pairs, value, self.attr_name)
