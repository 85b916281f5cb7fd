"""AddEncodings: several transforms on one graph, of a data object or of a whole data set."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from torchcent.check import _metapaths as check_metapaths
from torchcent.check import _values as check_values
from torchcent.check._values import whole
from torchcent.gnn import _metapaths, _stores
from torchcent.transforms import _cache, _chunks
from torchcent.transforms._base import BaseTransform, _OfGraphs, functional_transform

#: arguments of transforms that name attributes
_NAMES = ("attr_name", "values_name")
Metapaths = Mapping[str, Sequence[tuple[str, str, str]]]


@functional_transform("add_encodings")
class AddEncodings(BaseTransform):
    """Adds what several transforms of this module add (functional name: ``add_encodings``).

    The graph is prepared once for all of them. Values are those of the transforms one by one, each
    of the graph as it is before the first one. The method :meth:`encode` goes through a whole data
    set, thousands of graphs per call, and keeps results in files.

    Args:
        transforms: transforms of this module, or their names, such as "random_walk_encoding" or
            "AddRandomWalkEncoding". With arguments, a name is a pair such as
            ``("random_walk_encoding", {"walk_length": 16})``. The name of a function that a
            transform computes, such as "heat_kernel_encoding", stands for that transform.
        metapaths: for a HeteroData, a name and a list of edge types for each metapath, of which the
            next begins where one ends. Each is a graph of its own, on the types of its ends: an arc
            joins u to w if a walk along these edge types does. It has loops, as that of PyTorch
            Geometric's ``AddMetaPaths``. Each transform is applied to each of these graphs, and
            ``_NAME`` is put after its `attr_name`. None: the graph is that of all edge types, or of
            the `edge_types` of a transform.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from torchcent.transforms import AddEncodings, AddShortestPathEncoding
        >>> add = AddEncodings([
        ...     ("random_walk_encoding", {"walk_length": 2}), AddShortestPathEncoding(cutoff=1)
        ... ])
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> data = add(path)
        >>> data.random_walk_pe
        tensor([[0.0000, 0.5000],
                [0.0000, 1.0000],
                [0.0000, 0.5000]])
        >>> data.spd
        tensor([0, 1, 1, 0, 1, 1, 0])
        >>> [each.spd.numel() for each in add.encode([path, path])]
        [7, 7]
    """

    def __init__(self, transforms: Sequence[Any], metapaths: Metapaths | None = None) -> None:
        if not isinstance(transforms, (list, tuple)) or not transforms:
            accepted = "a list of transforms of torchcent.transforms, or of their names"
            raise check_values.wrong_type("transforms", accepted, transforms)
        self.transforms = [_made(each, place) for place, each in enumerate(transforms)]
        for each in self.transforms:
            if each._replaces_edges():
                raise ValueError(
                    f"{type(each).__name__} replaces the edges, of which others compute features; "
                    "apply it before or after AddEncodings"
                )
        names = [
            value for each in self.transforms for name in _NAMES
            if (value := getattr(each, name, None)) is not None
        ]  # fmt: skip
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"several of the transforms have attr_name={name!r}")
        self.metapaths = check_metapaths.metapaths(metapaths)
        for each in self.transforms if self.metapaths else ():
            for name in ("edge_types", "edge_weight"):
                if getattr(each, name) is not None:
                    raise ValueError(
                        f"{name}={getattr(each, name)!r} of {type(each).__name__} is not for "
                        f"metapaths, which are edges of their own"
                    )

    def forward(self, data: Any) -> Any:
        # All graphs are those before the first transform, which may add edge types.
        work = []
        if self.metapaths:
            for name, path in self.metapaths.items():
                graph = _metapaths.graph_of(data, path)._replace(prepared={})
                work += [(_renamed(each, name), graph) for each in self.transforms]
        else:
            graphs: dict[Any, _stores.Graph] = {}
            for each in self.transforms:
                key = each._types(data), each.edge_weight
                if key not in graphs:
                    graphs[key] = _stores.graph_of(data, *key)._replace(prepared={})
                work.append((each, graphs[key]))
        for each, graph in work:
            each._add(data, graph)
        return data

    def encode(
        self,
        dataset: Iterable[Any],
        *,
        cache: str | os.PathLike[str] | None = None,
        batch_size: int = 2048,
        as_tensors: bool = False,
        progress: bool | None = None,
    ) -> Iterator[Any]:
        """Applies the transforms to all graphs of a data set, many of them per call.

        A data set larger than memory can be an iterable that reads it. Graphs are read, computed
        and returned `batch_size` at a time, and no more are in memory.

        Args:
            dataset: Data or HeteroData objects, in any iterable. They are not changed.
            cache: a folder for the results, which is made if it does not exist. It has a file for
                each `batch_size` graphs, which appears when it is complete. A file belongs to these
                graphs (`edge_index`, `num_nodes` and the attributes that the transforms use), to
                the ``repr`` of the transforms and to the version of torchcent. If one of these
                changes, results are computed anew. An interrupted run continues where it stopped.
                Files that are no longer needed stay until they are deleted. They are read by
                ``torch.load`` with ``weights_only=True``.
            batch_size: graphs that are computed together.
            as_tensors: return a dictionary of tensors for each `batch_size` graphs, as the
                attributes of their Batch. Names are those of attributes; in a HeteroData
                pairs (type, name).
            progress: a progress bar; None shows it on a terminal after two seconds.

        Returns:
            An iterator over copies of the data objects with the new attributes, in their order; or
            over dictionaries.

        Raises:
            TypeError, ValueError: an argument is invalid, or a graph, when it is reached.
            OSError: the folder cannot be made or written to.
        """
        for each in self.transforms:
            each._check_many()
        size = whole(batch_size, "batch_size", 2**40)
        check_values.flag(as_tensors, "as_tensors")
        check_values.flag_or_none(progress, "progress")
        if not isinstance(dataset, Iterable) or hasattr(dataset, "node_stores"):
            raise check_values.wrong_type("dataset", "an iterable of Data objects", type(dataset))
        names = frozenset().union(*(each._attributes() for each in self.transforms))
        runs = [each._dtype() for each in self.transforms]
        folder = None if cache is None else _cache.Folder(cache, f"{self!r} {runs}")
        return _chunks.encoded(self, dataset, names, folder, size, as_tensors, progress)

    def __repr__(self) -> str:
        paths = f", metapaths={self.metapaths!r}" if self.metapaths else ""
        return f"AddEncodings({self.transforms!r}{paths})"


def _known() -> dict[str, tuple[type[_OfGraphs], dict[str, Any]]]:
    """The transforms, and arguments that a name implies: of the class, in lower case without "add",
    and of the functions that they compute."""
    classes: list[type[_OfGraphs]] = _OfGraphs.__subclasses__()
    for each in classes:
        classes += each.__subclasses__()
    long = {each.__name__: each for each in classes}
    short = {
        re.sub(
            "(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", x.removeprefix("Add")
        ).lower(): each
        for x, each in long.items()
    }
    functions = {name: (each, own) for each in classes for name, own in each._functions.items()}
    return {**functions, **{name: (each, {}) for name, each in (long | short).items()}}


def _made(value: object, place: int) -> _OfGraphs:
    if isinstance(value, _OfGraphs):
        return value
    what = f"transforms[{place}]"
    name, options = value if isinstance(value, tuple) and len(value) == 2 else (value, {})
    if not isinstance(name, str) or not isinstance(options, Mapping):
        accepted = "a transform of torchcent.transforms, its name, or (name, arguments)"
        raise check_values.wrong_type(what, accepted, value)
    known = _known()
    transform, own = known[check_values.choice(name, what, tuple(known))]
    return transform(**own | dict(options))


def _renamed(transform: _OfGraphs, name: str) -> _OfGraphs:
    new = copy.copy(transform)
    for each in _NAMES:
        if getattr(transform, each, None) is not None:
            setattr(new, each, f"{getattr(transform, each)}_{name}")
    return new
