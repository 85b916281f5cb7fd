"""The functions that call the operator, and the checks before them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch._subclasses import FakeTensor

from torchcent.check import _common as check
from torchcent.check import _cutoff as check_cutoff
from torchcent.check import _weights as check_weights
from torchcent.check._batch import measures as columns
from torchcent.check._run import around, of_operator
from torchcent.check._values import choice, dense, integer, number, shortened
from torchcent.engines.measures._measures import Measure, plain_columns
from torchcent.functional import _operator

_TENSORS = ("vertices", "values", "value", "group")
_OF_OPERATOR = ("engine", "dtype")


def is_here(each: Measure) -> bool:
    """Whether it is an operator: its result is one tensor, whose shape the arguments determine."""
    return each.of in ("vertices", "edges", "groups") and "functional" not in each.without


def function_of(each: Measure) -> Callable[..., Any]:
    """The function of a measure that calls the operator."""
    signature, kinds = _signature(each), _operator.kinds(each)
    parameters = signature.parameters.values()
    names = {parameter.name for parameter in parameters}
    defaults = {x.name: x.default for x in parameters if x.default is not x.empty}
    positional = [x.name for x in parameters if x.kind is x.POSITIONAL_OR_KEYWORD]
    name, parts, words = each.name, each.result if each.parts else None, each.choices
    uses = tuple(use for use in _OF_OPERATOR if use in each.uses)

    def call(*arguments: Any, **options: Any) -> Any:
        values = defaults | dict(zip(positional, arguments, strict=False)) | options
        if values.keys() != names or len(arguments) > len(positional):
            signature.bind(*arguments, **options)  # says what is missing or unknown
        run, nodes, directed = values["run"], values["num_nodes"], values["directed"]
        engine, dtype = of_operator(run, name, *uses)
        tensors: dict[str, Any] = {
            tensor: values.get(tensor) for tensor in ("edge_index", "edge_weight", "batch")
        }
        if not torch.compiler.is_compiling():
            for option, kind in kinds.items():
                values[option] = _checked(values[option], option, kind, words.get(option, ()))
            of_vertices = {
                option: values[option]
                for option, kind in kinds.items()
                if kind in _TENSORS and not (kind == "value" and isinstance(values[option], float))
            }
            _check_graph(tensors | of_vertices, nodes, directed)
        for option, kind in kinds.items():
            if kind == "columns" and not isinstance(values[option], str):
                values[option] = ",".join(values[option])
            if kind == "value" and not isinstance(values[option], Tensor):
                values[option] = tensors["edge_index"].new_full(
                    (nodes,), values[option], dtype=torch.float64
                )
        check_weights.no_gradient(tensors["edge_weight"])
        with around(run):
            scores: Tensor = torch.ops.torchcent.scores(
                name, tensors["edge_index"], tensors["edge_weight"], tensors["batch"], nodes,
                directed, *_operator.lists(kinds, values),
                dtype=dtype if "dtype" in uses else torch.int64, engine=engine,
            )  # fmt: skip
        return scores if parts is None else parts(*scores.unbind(1))

    call.__name__ = call.__qualname__ = name
    call.__module__ = "torchcent.functional"
    call.__signature__ = signature  # type: ignore[attr-defined]
    call.__doc__ = (
        f"{each.text}\n\n:func:`torchcent.{name}` inside a model: its arguments and values, as one "
        "operator.\n"
    )
    return call


def _signature(each: Measure) -> inspect.Signature:
    """That of the function, without what an operator does not have, and with `num_nodes`."""
    left_out = each.options.keys() - _operator.kinds(each).keys()
    parameters = [
        x.replace(default=x.empty if x.name == "num_nodes" else x.default)
        for x in each.parameters.values()
        if x.name not in left_out
    ]
    return inspect.Signature(
        [x.replace(annotation=_type(x, _operator.kinds(each).get(x.name, ""))) for x in parameters]
    )


def _type(of: inspect.Parameter, kind: str) -> str:
    """The types that the operator accepts."""
    if of.name in ("edge_index", "edge_weight", "num_nodes"):
        return {"edge_index": "Tensor", "num_nodes": "int"}.get(of.name, "Tensor | None")
    if kind in ("vertices", "values", "group"):
        return "Tensor" if of.default is of.empty else "Tensor | None"
    if kind == "number" and "Tensor" in str(of.annotation):
        return "float | None" if "None" in str(of.annotation) else "float"
    return "float | None" if kind == "lengths" else str(of.annotation)


def _checked(value: Any, name: str, kind: str, words: Any) -> Any:
    """A value that the operator's schema accepts."""
    if kind == "flag":
        return check.flag(value, name)
    if kind == "word":
        return choice(value, name, tuple(words))
    if kind == "number" and value is None:
        return None  # the function says whether it takes it
    if kind == "number" or (kind == "value" and not isinstance(value, Tensor)):
        return number(value, name)
    if kind == "count":
        return _count(value, name)
    if kind == "lengths":
        return check_cutoff.single(value, name)
    if kind == "columns":
        return columns(value, plain_columns())
    return value


def _count(value: object, name: str) -> int:
    count = integer(value, name)
    if not -(2**63) <= count < 2**63:
        raise ValueError(f"{name} must be below 2^63, got {shortened(value)}")
    return count


def _check_graph(tensors: dict[str, Any], num_nodes: Any, directed: Any) -> None:
    """Checks what the operator's schema would report in PyTorch's words.

    Tensors without data are accepted if all tensors are such, as when a model is traced.
    """
    for name, value in tensors.items():
        if not isinstance(value, Tensor) and (value is not None or name == "edge_index"):
            raise TypeError(f"{name} must be a torch.Tensor, got {type(value).__name__}")
    known = {name: value for name, value in tensors.items() if value is not None}
    if not all(isinstance(value, FakeTensor) or value.is_meta for value in known.values()):
        for name, value in known.items():
            dense(value, name)
    edge_index = tensors["edge_index"]
    if edge_index.dim() != 2 or edge_index.shape[0] != 2:
        raise ValueError(f"edge_index must have shape [2, E], got {list(edge_index.shape)}")
    if not isinstance(num_nodes, torch.SymInt) and check.num_nodes(num_nodes) is None:
        raise TypeError("num_nodes must be an int, got None")
    if directed is not None:
        check.flag(directed, "directed")
