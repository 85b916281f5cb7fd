"""Transforms that add encodings by the spectrum of the Laplacian, and by walks between pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _data as check_data
from torchcent.check import _encodings as check_encodings
from torchcent.check._run import DEFAULT, Run, resolved
from torchcent.check._values import choice
from torchcent.encodings._diffusion import (
    electrostatic_encoding,
    heat_kernel_encoding,
    heat_kernel_pairs,
    resistance_pairs,
    spectral_density,
)
from torchcent.encodings._laplacian import as_in_pyg
from torchcent.encodings._walks import random_walk_pairs
from torchcent.gnn import _stores
from torchcent.graph import Graph
from torchcent.transforms._base import EdgeTypes, _OfGraphs, functional_transform, of_kinds

_PAIRS = "(pairs of vertices are no rows of data.x)"


@functional_transform("add_laplacian_encoding")
class AddLaplacianEncoding(_OfGraphs):
    """Adds eigenvectors of the Laplacian (functional name: ``add_laplacian_encoding``).

    Args:
        k: number of eigenvectors, and of columns.
        attr_name: attribute for the eigenvectors, [n, k]; None appends them to ``data.x``, in its
            dtype and on its device (or creates ``data.x``).
        values_name: attribute for the eigenvalues, [1, k] of a Data; None leaves them out.
        normalization, trivial: as in :func:`torchcent.laplacian_encoding`.
        flip: give each column of each graph a random sign, from PyTorch's global generator, as
            ``AddLaplacianEigenvectorPE`` does.
        edge_weight: edge attribute that holds the *strengths* of edges, such as "edge_weight"; None
            uses 1 for all edges.
        directed: None uses the arcs of edge_index, each of which needs its reverse, False adds
            missing reverse arcs.
        edge_types, run: as for :class:`AddCentrality`, also for batches and HeteroData.

    Values are those of PyTorch Geometric's ``AddLaplacianEigenvectorPE`` up to signs, and up to
    bases for multiple eigenvalues. As there, a vertex without edges has 1 on the diagonal of the
    normalised Laplacians. All graphs of a Batch are computed at once, and smaller graphs than k + 1
    vertices have columns of 0.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from torchcent.transforms import AddLaplacianEncoding
        >>> path = Data(edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]), num_nodes=4)
        >>> AddLaplacianEncoding(2, directed=False)(path).laplacian_eigenvector_pe
        tensor([[ 0.5774,  0.5774],
                [ 0.4082, -0.4082],
                [-0.4082, -0.4082],
                [-0.5774,  0.5774]])
    """

    def __init__(
        self,
        k: int,
        attr_name: str | None = "laplacian_eigenvector_pe",
        values_name: str | None = None,
        normalization: str | None = "sym",
        trivial: bool = False,
        flip: bool = False,
        edge_weight: str | None = None,
        *,
        directed: bool | None = None,
        edge_types: EdgeTypes | None = None,
        run: Run = DEFAULT,
    ) -> None:
        of_vectors = check_data.attribute(attr_name, "nodes")
        of_values = check_data.attribute(values_name, "nodes", "values_name")
        if of_values is not None and of_values == of_vectors:
            raise ValueError(f"values_name={values_name!r} is attr_name, too")
        super().__init__(
            edge_weight, directed, edge_types, run, k=check_encodings.columns(k, "k"),
            attr_name=of_vectors, values_name=of_values,
            normalization=check_encodings.normalization(normalization),
            trivial=check.flag(trivial, "trivial"), flip=check.flag(flip, "flip"),
        )  # fmt: skip

    def _check_many(self) -> None:
        if self.flip:
            raise ValueError("flip=True is for a transform, which draws signs in each epoch")

    def _add(self, data: Any, graph: _stores.Graph) -> None:
        options = self._whole(graph, self._options(graph, torch.float64))
        run = resolved(options["run"], ("dtype",), "laplacian_encoding")
        vectors, values = as_in_pyg(
            options | {"run": run}, self.k, self.normalization, self.trivial, self.flip
        )
        _stores.give_nodes(data, graph, vectors, self.attr_name, self._dtype())
        if self.values_name is not None:
            _stores.give_graphs(data, values.to(self._dtype()), self.values_name)


#: kind -> the function, and the arguments that it needs
_OF_VERTICES: dict[str, tuple[Callable[..., Tensor], tuple[str, ...]]] = {
    "heat": (heat_kernel_encoding, ("times",)),
    "density": (spectral_density, ("bins",)),
    "electrostatic": (electrostatic_encoding, ()),
}
_OF_PAIRS: dict[str, tuple[Callable[..., Tensor], tuple[str, ...]]] = {
    "random_walk": (random_walk_pairs, ("powers",)),
    "heat": (heat_kernel_pairs, ("times",)),
    "resistance": (resistance_pairs, ()),
    "commute": (resistance_pairs, ()),
    "hitting": (resistance_pairs, ()),
}


def _own(kind: str, needs: tuple[str, ...], given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a kind, from those of all."""
    for name, value in given.items():
        if (value is not None) is not (name in needs):
            verb = "needs" if value is None else "has no argument"
            raise ValueError(f"kind={kind!r} {verb} {name}")
    return {name: given[name] for name in needs}


@functional_transform("add_spectral_encoding")
class AddSpectralEncoding(_OfGraphs):
    """Adds functions of the spectrum of the Laplacian (functional name: ``add_spectral_encoding``).

    Args:
        kind: "heat" for :func:`torchcent.heat_kernel_encoding`, "density" for
            :func:`torchcent.spectral_density`, "electrostatic" for
            :func:`torchcent.electrostatic_encoding`.
        attr_name: attribute for the encoding, [n, columns], by default the kind and ``_encoding``;
            None appends it to ``data.x``, in its dtype and on its device (or creates ``data.x``).
        times: for "heat".
        bins: for "density".
        edge_weight, directed, edge_types, run: as for :class:`AddLaplacianEncoding`.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from torchcent.transforms import AddSpectralEncoding
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> AddSpectralEncoding("heat", times=[1, 4])(path).heat_encoding
        tensor([[0.4678, 0.2592],
                [0.5677, 0.5002],
                [0.4678, 0.2592]])
    """

    _functions = of_kinds({kind: each for kind, (each, _) in _OF_VERTICES.items()}, "kind")

    def __init__(
        self,
        kind: str,
        attr_name: str | None = "",
        *,
        times: float | list[float] | None = None,
        bins: int | None = None,
        edge_weight: str | None = None,
        directed: bool | None = None,
        edge_types: EdgeTypes | None = None,
        run: Run = DEFAULT,
    ) -> None:
        word = choice(kind, "kind", tuple(_OF_VERTICES))
        name = f"{word}_encoding" if isinstance(attr_name, str) and not attr_name else attr_name
        own = _own(word, _OF_VERTICES[word][1], {"times": times, "bins": bins})
        if times is not None:
            own["times"] = check_encodings.times(times)
        if bins is not None:
            check_encodings.columns(bins, "bins")
        super().__init__(
            edge_weight, directed, edge_types, run, kind=word,
            attr_name=check_data.attribute(name, "nodes"), **own,
        )  # fmt: skip

    def _add(self, data: Any, graph: _stores.Graph) -> None:
        function, names = _OF_VERTICES[self.kind]
        own = {name: getattr(self, name) for name in names}
        encoding = function(**self._options(graph, torch.float64), **own)
        _stores.give_nodes(data, graph, encoding, self.attr_name, self._dtype())


@functional_transform("add_pair_encoding")
class AddPairEncoding(_OfGraphs):
    """Adds encodings of all pairs as padded matrices (functional name: ``add_pair_encoding``).

    Args:
        kind: "random_walk" for :func:`torchcent.random_walk_pairs`, "heat" for
            :func:`torchcent.heat_kernel_pairs`; "resistance", "commute" or "hitting" for
            :func:`torchcent.resistance_pairs`.
        attr_name: attribute for the matrices, [1, N, N, columns] of a Data, without columns for the
            last three kinds; by default the kind and ``_pairs``.
        powers: for "random_walk".
        times: for "heat".
        max_nodes, padding: as in :func:`torchcent.shortest_path_encoding`. Matrices of several
            graphs can be put into one Batch if `max_nodes` gives all the same shape.
        edge_weight, directed, edge_types, run: as for :class:`AddLaplacianEncoding`.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from torchcent.transforms import AddPairEncoding
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> AddPairEncoding("hitting")(path).hitting_pairs[0]
        tensor([[0., 1., 4.],
                [3., 0., 3.],
                [4., 1., 0.]])
    """

    _functions = of_kinds({kind: each for kind, (each, _) in _OF_PAIRS.items()}, "kind")

    def __init__(
        self,
        kind: str,
        attr_name: str | None = None,
        *,
        powers: int | None = None,
        times: float | list[float] | None = None,
        max_nodes: int | None = None,
        padding: float = 0.0,
        edge_weight: str | None = None,
        directed: bool | None = None,
        edge_types: EdgeTypes | None = None,
        run: Run = DEFAULT,
    ) -> None:
        word = choice(kind, "kind", tuple(_OF_PAIRS))
        own = _own(word, _OF_PAIRS[word][1], {"powers": powers, "times": times})
        if times is not None:
            own["times"] = check_encodings.times(times)
        if powers is not None:
            check_encodings.columns(powers, "powers")
        name = f"{word}_pairs" if attr_name is None else attr_name
        super().__init__(
            edge_weight, directed, edge_types, run, kind=word,
            attr_name=check_data.required_attribute(name, "nodes", _PAIRS),
            max_nodes=check.positive(max_nodes, "max_nodes"),
            padding=check_encodings.fill(padding, "padding", torch.float64), **own,
        )  # fmt: skip

    def _check_many(self) -> None:
        if self.max_nodes is None:
            raise ValueError(
                "AddPairEncoding needs max_nodes for a data set: matrices would have the size of "
                "the largest graph that is computed at the same time"
            )

    def _add(self, data: Any, graph: _stores.Graph) -> None:
        function, names = _OF_PAIRS[self.kind]
        own = {name: getattr(self, name) for name in names}
        if function is resistance_pairs:
            own["kind"] = self.kind
        options = self._options(graph, self._dtype())
        if graph.ptr is not None and graph.prepared is None:
            arcs = graph.edge_index, graph.num_nodes, self.directed is not False, graph.weight
            options = {
                "edge_index": Graph.from_edge_index(*arcs, ptr=graph.ptr),
                "run": options["run"],
            }
        pairs = function(**options, **own, max_nodes=self.max_nodes, padding=self.padding)
        _stores.give_graphs(data, pairs, self.attr_name)
