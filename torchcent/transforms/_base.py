"""What all transforms share: the graph of the data, the arguments of functions, and the repr."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _data as check_data
from torchcent.check._run import DEFAULT, Run, checked, quiet, surrounding
from torchcent.gnn import _stores
from torchcent.graph import Graph

try:
    from torch_geometric.data.datapipes import functional_transform as functional_transform
    from torch_geometric.transforms import BaseTransform as BaseTransform
except ImportError as error:
    raise ImportError(
        "torchcent.transforms needs torch_geometric, of the extra torchcent[pyg]: "
        "pip install torch_geometric"
    ) from error

EdgeTypes = Sequence[tuple[str, str, str]]
_Types = tuple[tuple[str, str, str], ...]


def of_kinds(functions: Mapping[str, Callable[..., Any]], name: str) -> dict[str, dict[str, Any]]:
    """The functions of a table of kinds, each with the argument `name` that selects it.

    Of several kinds of a function the first one counts.
    """
    return {each.__name__: {name: kind} for kind, each in reversed(list(functions.items()))}


class _OfGraphs(BaseTransform):
    """Base class of all transforms: the arcs and their lengths or similarities."""

    #: functions that it computes with these arguments, besides that of its own name
    _functions: ClassVar[dict[str, dict[str, Any]]] = {}

    def __init__(
        self, edge_weight: str | None, directed: bool | None, edge_types: EdgeTypes | None,
        run: Run, **own: Any,
    ) -> None:  # fmt: skip
        """`own`: the other arguments that determine the result."""
        self._names = (*own, "edge_weight", "directed")
        for name, value in own.items():
            setattr(self, name, value)
        self.edge_weight = check_data.weight_attribute(edge_weight)
        self.directed = directed if directed is None else check.flag(directed, "directed")
        self.edge_types = check_data.edge_types(edge_types)
        self.run = DEFAULT if run is None else checked(run)

    def _options(self, graph: _stores.Graph, dtype: torch.dtype | None = None) -> dict[str, Any]:
        """Arguments common to all functions. DataLoader workers show no bar unless asked to."""
        in_worker = torch.utils.data.get_worker_info() is not None
        run = quiet() | self.run if in_worker else self.run
        if dtype is not None:
            run |= Run(dtype=dtype)
        shared = graph.built(self.directed)
        if shared is not None:
            return {"edge_index": shared, "run": run}
        return {**graph.arguments(), "directed": self.directed, "run": run}

    def _unweighted(self, graph: _stores.Graph) -> dict[str, Any]:
        """The same for functions to which weights do not matter."""
        options = self._options(graph)
        options.pop("edge_weight", None)
        return options

    def _scores(self, graph: _stores.Graph, measure: Callable[..., Tensor], **own: Any) -> Tensor:
        scores = measure(**self._options(graph, torch.float64), **own, normalized=self.normalized)
        return scores.log1p() if self.log else scores

    def _dtype(self) -> torch.dtype:
        """That of the Run, in which scores are stored."""
        return (surrounding() | self.run).dtype

    def forward(self, data: Any) -> Any:
        self._add(data, _stores.graph_of(data, self._types(data), self.edge_weight))
        return data

    def _types(self, data: Any) -> _Types | None:
        """The edge types that form the graph; None for all."""
        types: _Types | None = self.edge_types
        return types

    def _attributes(self) -> set[str]:
        """The attributes of the data that the result depends on, besides edge_index."""
        names = {self.edge_weight} if self.edge_weight is not None else set()
        return names | ({"x", "edge_attr"} if self.attr_name is None else set())

    def _whole(self, graph: _stores.Graph, options: dict[str, Any]) -> dict[str, Any]:
        """The same with graphs without vertices at the end of a batch, which `batch` leaves out."""
        if graph.ptr is None or graph.prepared is not None:
            return options
        arcs = graph.edge_index, graph.num_nodes, self.directed is not False, graph.weight
        return {"edge_index": Graph.from_edge_index(*arcs, ptr=graph.ptr), "run": options["run"]}

    def _replaces_edges(self) -> bool:
        return False

    def _check_many(self) -> None:
        """Refuses what depends on how the graphs of a data set are put together."""

    def _add(self, data: Any, graph: _stores.Graph) -> None:
        raise NotImplementedError

    def __repr__(self) -> str:
        """What determines the result; PyTorch Geometric compares it with data sets."""
        names = self._names + (() if self.edge_types is None else ("edge_types",))
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__name__}({values})"
