"""Errors about metapaths."""

from __future__ import annotations

from collections.abc import Mapping

from torchcent.check import _data as check_data
from torchcent.check._values import shortened, wrong_type

_COUNTED = ("index", "batch", "edge")  # of which torch_geometric knows a meaning


def metapaths(value: object) -> dict[str, tuple[tuple[str, str, str], ...]]:
    """The edge types of each metapath by its name; none for None."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not value:
        raise wrong_type("metapaths", "a dictionary of names and lists of edge types", value)
    paths = {}
    for name, path in value.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise wrong_type("metapaths", "a dictionary whose keys are names", name)
        for part in _COUNTED:
            if part in name:
                raise ValueError(
                    f"metapaths contains the name {name!r} with {part!r}, which has a meaning to "
                    "torch_geometric in names of attributes; choose another name"
                )
        types = check_data.edge_types(path)
        if types is None:
            raise wrong_type(f"metapaths[{name!r}]", "a list of (source, relation, target)", path)
        for before, after in zip(types, types[1:], strict=False):
            if before[2] != after[0]:
                raise ValueError(
                    f"metapaths[{name!r}] has {shortened(after)} after {shortened(before)}, but "
                    f"{before[2]!r} is not {after[0]!r}"
                )
        paths[name] = types
    return paths
