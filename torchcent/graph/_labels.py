"""Labels: the names of the vertices of a graph, kept beside its arrays on the host.

An array of int64 or of objects, such as text, in which each name stands once. Graphs whose vertices
are called 0 to n - 1 have none, and nothing is done for them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _labels as check_labels
from torchcent.graph._naming import Numbers

#: what labels are stored as
STORED = ("label_ids", "label_ends", "label_text")


def array(labels: Any) -> np.ndarray | None:
    """The names as an array that cannot be written to; None if they are 0 to n - 1.

    They are known to be distinct.
    """
    if labels is None:
        return None
    names = labels if isinstance(labels, np.ndarray) else _array(labels)
    if names.dtype == np.int64:
        if np.array_equal(names, np.arange(names.size)):
            return None
        names = names.copy()
    elif names.dtype == object:
        names = names.copy()
    else:
        names = _array(names.tolist())
    names.flags.writeable = False
    return names


def _array(labels: Iterable[Any]) -> np.ndarray:
    names = list(labels)
    if names and all(map(_is_integer, set(map(type, names)))):
        try:
            return np.array(names, np.int64)
        except OverflowError:
            pass
    return np.fromiter(names, object, len(names))


def _is_integer(kind: type) -> bool:
    return issubclass(kind, (int, np.integer)) and kind is not bool


def checked(labels: Any, size: int) -> np.ndarray | None:
    """Names that a user gives, one of each vertex."""
    names = check_labels.sequence(labels, size)
    check_labels.distinct(names)
    return array(names)


def part(labels: np.ndarray | None, vertices: Tensor) -> np.ndarray:
    """The names of some vertices, which without labels are their numbers."""
    places = vertices.cpu().numpy()
    names: np.ndarray = places.copy() if labels is None else labels[places]
    return names


def plain(values: np.ndarray) -> Any:
    """A column for pyarrow: names of several kinds as text, tuples among them."""
    if values.dtype != object:
        return values
    kinds = set(map(type, values.tolist()))
    return (
        values.tolist()
        if len(kinds) == 1 and kinds <= {str, int, float}
        else list(map(str, values))
    )


def nbytes(labels: np.ndarray | None) -> int:
    """Bytes of the array and of the text in it."""
    if labels is None:
        return 0
    own = sum(map(sys.getsizeof, labels)) if labels.dtype == object else 0
    return labels.nbytes + own


def places(labels: np.ndarray | None, size: int, names: Any) -> Tensor:
    """int64: the vertices of these names."""
    wanted = check_labels.names(names)
    if labels is None:
        known: Any = range(size)
    else:
        known = {name: vertex for vertex, name in enumerate(labels.tolist())}
    return torch.tensor(check_labels.places(wanted, known), dtype=torch.int64, device="cpu")


def aligned(own: np.ndarray, before: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The vertex of each name, and all names: those of `before`, then the new ones in order."""
    number = Numbers((name, vertex) for vertex, name in enumerate(before.tolist()))
    ids = np.fromiter(map(number.__getitem__, own.tolist()), np.int64, own.size)
    return ids, _array(number)


# Files and pickles


def stored(labels: np.ndarray | None) -> dict[str, Tensor | str]:
    """Labels as tensors: integers, or the text of all and where each ends.

    Names that are no text are written as JSON, tuples as lists.
    """
    if labels is None:
        return {}
    if labels.dtype == np.int64:
        return {"label_ids": torch.from_numpy(labels.copy())}
    names, kind = labels.tolist(), "text"
    if set(map(type, names)) != {str}:
        names, kind = list(map(_written, names)), "json"
    parts = [name.encode("utf-8", "surrogatepass") for name in names]
    ends = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)))
    text = torch.from_numpy(np.frombuffer(bytearray(b"".join(parts)), np.uint8))
    return {"label_ends": torch.from_numpy(ends), "label_text": text, "label_kind": kind}


def _written(name: Any) -> str:
    try:
        text = json.dumps(name, default=_number)
        if _read(text) == name:
            return text
    except (TypeError, ValueError, RecursionError):
        pass
    raise check_labels.not_stored(name)


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError


def _read(text: str) -> Any:
    return _hashable(json.loads(text))


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def restored(
    content: dict[str, Any], size: int, refuse: Callable[[str], ValueError]
) -> np.ndarray | None:
    """Labels from a file, which may come from anyone."""
    ids, ends, text = (content.get(name) for name in STORED)
    if ids is None and ends is None and text is None:
        return None
    if ids is not None:
        names: Any = _whole(ids, torch.int64, refuse).numpy()
    else:
        names = _texts(_whole(ends, torch.int64, refuse), _whole(text, torch.uint8, refuse), refuse)
        kind = content.get("label_kind")
        if kind == "json":
            try:
                names = list(map(_read, names))
                hash(tuple(names))
            except (TypeError, ValueError, RecursionError):
                raise refuse("a label is not what was written") from None
        elif kind != "text":
            raise refuse("label_kind is not 'text' or 'json'")
    if len(names) != size:
        raise refuse(f"{len(names)} labels of {size} vertices")
    if len(set(names if isinstance(names, list) else names.tolist())) != size:
        raise refuse("two vertices have the same label")
    return array(names)


def _whole(part: Any, dtype: torch.dtype, refuse: Callable[[str], ValueError]) -> Tensor:
    plain = isinstance(part, Tensor) and part.layout == torch.strided and part.dtype == dtype
    if not plain or part.dim() != 1 or not part.is_contiguous():
        raise refuse("labels are not arrays of numbers")
    own: Tensor = part.detach().cpu()
    return own


def _texts(ends: Tensor, text: Tensor, refuse: Callable[[str], ValueError]) -> list[str]:
    stops = ends.tolist()
    starts = [0, *stops[:-1]] if stops else []
    if any(map(int.__gt__, starts, stops)) or (stops[-1] if stops else 0) != text.numel():
        raise refuse("labels do not end where they should")
    data = text.numpy().tobytes()
    parts = map(data.__getitem__, map(slice, starts, stops))
    try:
        return [each.decode("utf-8", "surrogatepass") for each in parts]
    except UnicodeDecodeError:
        raise refuse("a label is no text") from None


def of_nodes(nodes: Sequence[Hashable]) -> Sequence[Hashable] | None:
    """The nodes of a graph of another library, if they are not 0 to n - 1."""
    return None if nodes == list(range(len(nodes))) else nodes


def _ascends(values: Any) -> bool:
    """Whether these are integers as files have them, each above the one before."""
    integers = isinstance(values, np.ndarray) and values.dtype == np.int64
    return integers and bool((values[1:] > values[:-1]).all())


def of_attribute(values: Any, reason: Callable[[str], None]) -> Any:
    """An attribute that holds names, if every vertex has one of its own; else `reason` is told."""
    if values is None or _ascends(values):
        return values
    names = values.tolist() if isinstance(values, np.ndarray) else values
    if "" in names or None in names:
        reason("some are missing")
    elif not check_labels.are_distinct(names):
        reason("some are the same")
    else:
        return values
    return None
