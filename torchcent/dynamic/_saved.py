"""Graphs that change in files: the graph, what measures keep, and what a caller adds.

A file is one of torch.save of plain values and tensors. Records, which are dataclasses and named
tuples of torchcent.dynamic, are stored as dictionaries with their name.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from torchcent.graph import Graph, _file
from torchcent.runtime._config import __version__
from torchcent.runtime._replacing import replacing

_FORMAT, _VERSION = "torchcent.DynamicGraph", 1
_NAMED = (
    rb"collections OrderedDict|torch\._utils _rebuild_tensor_v2|"
    rb"torch (Bool|Byte|Short|Int|Long|Half|Float|Double)Storage"
)
_MOST_PLAIN = 2**20  # bytes of all that is no tensor
_RECORD = "record"  # the entry of a dictionary that names the type of a record
_GENERATOR = "torch.Generator"
_HOME = "torchcent.dynamic"  # where records are declared
_PLAIN = (type(None), bool, int, float, str)


class Content(NamedTuple):
    """What a file holds; states of measures as they are stored, each with the name of its class."""

    graph: Graph
    measures: list[tuple[str, dict[str, Any]]]
    more: dict[str, Any]


def save(
    path: str, graph: Graph, measures: Sequence[tuple[str, dict[str, Any]]], more: dict[str, Any]
) -> None:
    """Writes a file in the place of an older one, once it is whole and on the disk."""
    stored = graph._stored.each(lambda part: part.contiguous().cpu())
    content = {
        "format": _FORMAT, "version": _VERSION, "torchcent": __version__, "graph": stored.held(),
        "measures": [{"name": name, "state": packed(state)} for name, state in measures],
        "more": packed(more),
    }  # fmt: skip
    with replacing(path, durable=True) as (file, _):
        torch.save(content, file)


def load(path: str) -> Content:
    """Reads and checks a file, but for what measures keep."""
    refuse = partial(refused, path)
    content = _file.content(path, refuse, _NAMED, most=_MOST_PLAIN, mapped=False)
    named = content.get("format") if isinstance(content, dict) else None
    if named != _FORMAT:
        known = "a Graph, which Graph.load reads" if named == "torchcent.Graph" else "another file"
        raise refuse(known)
    version, writer = content.get("version"), content.get("torchcent")
    if not isinstance(version, int) or version < 1:
        raise refuse(f"version {version!r:.20}")
    if version > _VERSION:
        raise ValueError(
            f"{path}: is of version {version}, of torchcent {writer!s:.20}; torchcent "
            f"{__version__} reads files up to version {_VERSION}"
        )
    stored = _file.restored(refuse, content.get("graph"))
    if stored.ptr is not None:
        raise refuse("its graph has parts")
    try:
        measures = [(str(each["name"]), each["state"]) for each in content["measures"]]
        more = unpacked(content["more"], {})
    except (TypeError, KeyError):
        raise refuse("measures are missing") from None
    graph = Graph(stored.rowptr, stored.col, None, _trusted=True, **stored.made())
    return Content(graph, measures, more)


def refused(path: str, reason: str) -> ValueError:
    return ValueError(f"{path}: not a file of DynamicGraph.save ({reason})")


def records(kind: type) -> dict[str, type]:
    """The records that the modules of a class and of its bases know, by their names."""
    modules = (vars(sys.modules[each.__module__]) for each in kind.__mro__)
    values = (value for names in modules for value in names.values() if isinstance(value, type))
    return {
        value.__name__: value
        for value in values
        if value.__module__.startswith(_HOME) and _fields(value) is not None
    }


def _fields(kind: type) -> list[str] | None:
    """The names of what a record is made of; None of other types."""
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind) if field.init]
    fields = getattr(kind, "_fields", None)
    return None if fields is None else list(fields)


def packed(value: Any) -> Any:
    """The same as plain values and tensors, which share no memory with what is larger."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, Tensor):
        own = value.detach().cpu().contiguous()
        return own if own.untyped_storage().nbytes() == own.nbytes else own.clone()
    if isinstance(value, torch.Generator):
        return {_RECORD: _GENERATOR, "state": value.get_state()}
    if kind in (list, tuple):
        return kind(map(packed, value))
    if kind is dict and _RECORD not in value:
        return {packed(key): packed(each) for key, each in value.items()}
    fields = _fields(kind)
    if fields is None or not kind.__module__.startswith(_HOME):
        raise TypeError(f"{kind.__module__}.{kind.__name__} cannot be saved")
    return {_RECORD: kind.__name__, **{name: packed(getattr(value, name)) for name in fields}}


def unpacked(value: Any, known: dict[str, type]) -> Any:
    """What was packed; KeyError and TypeError if its records are not those known."""
    if isinstance(value, (list, tuple)):
        return type(value)(unpacked(each, known) for each in value)
    if not isinstance(value, dict):
        return value
    parts = {key: unpacked(each, known) for key, each in value.items()}
    name = parts.pop(_RECORD, None)
    if name is None:
        return parts
    if name == _GENERATOR:
        return torch.Generator().set_state(parts["state"])
    make: Callable[..., Any] = known[name]
    return make(**parts)
