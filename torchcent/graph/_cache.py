"""Typed caches: what is kept with a graph, and with what belongs to it.

Every value has a :class:`Slot`, declared by the function that computes it. Nothing is kept without
one, so that the slots tell how much memory is taken, and what can be forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

import numpy as np
import torch
from torch import Tensor

_K = TypeVar("_K", bound="Keeper")
_P = ParamSpec("_P")
_T = TypeVar("_T")
_ABSENT: Any = object()


class Keeper:
    """What values are kept with, by their slots in `cache`."""

    cache: dict[Slot[Any, ..., Any], Any]

    @property
    def _parts(self) -> Iterable[object]:
        """Its own arrays, what else has arrays, and the cache."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Record(Keeper):
    """Arrays that are made of those of a graph."""

    cache: dict[Slot[Any, ..., Any], Any] = field(init=False, repr=False, default_factory=dict)

    @property
    def _parts(self) -> Iterable[object]:
        return [getattr(self, name) for name in self.__dataclass_fields__]

    @property
    def nbytes(self) -> int:
        """Bytes of its own arrays."""
        own = tuple(part for part in self._parts if part is not self.cache)
        return sum(part.numel() * part.itemsize for part in tensors(own))


class Slot(cached_property[_T], Generic[_K, _P, _T]):
    """The place of a value that is kept with an object, named by the function that computes it.

    A method becomes a property, as with functools.cached_property, and is read as fast. A function
    of a module remains one, called once for an object: its other arguments follow from that. Values
    take the memory of their tensors (:func:`tensors`); `owner` is the module that declares them.
    """

    def __init__(self, compute: Callable[Concatenate[_K, _P], _T]) -> None:
        super().__init__(compute)
        self.compute, self.owner = compute, compute.__module__

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> _T: ...
    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
        return self if instance is None else self.__call__(instance)  # type: ignore[call-arg]

    def __call__(self, keeper: _K, *args: _P.args, **options: _P.kwargs) -> _T:
        value: _T = keeper.cache.get(self, _ABSENT)
        if value is _ABSENT:
            value = self.compute(keeper, *args, **options)
            if self.attrname is not None:  # of two threads, the first one's
                value = keeper.__dict__.setdefault(self.attrname, value)
            value = keeper.cache.setdefault(self, value)
        return value

    def get(self, keeper: _K) -> _T | None:
        """The value, if there is one."""
        return keeper.cache.get(self)

    def put(self, keeper: _K, value: _T) -> _T:
        """Keeps a value that is known."""
        if self.attrname is not None:
            keeper.__dict__[self.attrname] = value
        keeper.cache[self] = value
        return value

    def forget(self, keeper: _K) -> None:
        keeper.cache.pop(self, None)
        keeper.__dict__.pop(self.attrname or "", None)


def tensors(value: object) -> Iterator[Tensor]:
    """The tensors of a value and of all that is kept with it; some may come several times."""
    waiting, seen = [value], set()
    for part in waiting:  # which grows; every new plan asks, so it is quick
        if isinstance(part, Tensor):
            yield part
        elif isinstance(part, np.ndarray):
            yield torch.from_numpy(part)
        elif isinstance(part, Keeper):
            if id(part) not in seen:  # twins and their cores refer to each other
                seen.add(id(part))
                waiting.extend(part._parts)
        elif isinstance(part, dict | tuple):
            waiting.extend(part.values() if isinstance(part, dict) else part)


def storages(value: object) -> list[torch.UntypedStorage]:
    """The memory of these tensors, on any device, each piece once."""
    every = ((part.untyped_storage(), id(part)) for part in tensors(value))
    return list({storage.data_ptr() or number: storage for storage, number in every}.values())
