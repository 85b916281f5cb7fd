"""Calls of public functions with options that a test has as a dictionary."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from internals import MEASURES

from torchcent import Engine, Graph, Run

_OF_GRAPHS = ("ptr", "ties", "tie_tolerance")
_OF_ENGINES = ("strategy", "warp_size")
_OF_RUNS = ("engine", "reduce", "memory", "progress", "checkpoint", "devices", "group", "threads")


def spread(options: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The keyword arguments of a function, those of a Run among them put into `run`."""
    arguments = {**options, **more}
    named = {name: arguments.pop(name) for name in _OF_RUNS if name in arguments}
    of_engine = {name: arguments.pop(name) for name in _OF_ENGINES if name in arguments}
    if of_engine:
        named["engine"] = Engine(named.get("engine", "auto"), **of_engine)
    if named:
        arguments["run"] = arguments.get("run", Run()) | Run(**named)
    return arguments


def call(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Calls a function; what belongs to a Graph among the options is put into one."""
    own = {name: options.pop(name) for name in _OF_GRAPHS if name in options}
    if own:
        options |= dict(zip(inspect.signature(function).parameters, arguments, strict=False))
        arguments = ()
    if own and isinstance(options["edge_index"], Graph):
        options["edge_index"] = options["edge_index"].with_ties(**own)
    elif own:
        names = ("edge_index", "num_nodes", "edge_weight", "batch")
        own |= {name: options.pop(name) for name in names if name in options}
        directed = options.pop("directed", None) is not False
        options["edge_index"] = Graph.from_edge_index(**own, directed=directed)
    if "dtype" in options and "dtype" not in inspect.signature(function).parameters:
        options["run"] = options.get("run", Run()) | Run(dtype=options.pop("dtype"))
    own = {}
    if "group" in options and "group" in inspect.signature(function).parameters:
        own["group"] = options.pop("group")  # of vertices, not of processes
    return function(*arguments, **own, **spread(options))


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """PyTorch's global generator, from which sources are drawn, begins with a seed inside."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def needed(name: str, n: int = 4) -> dict[str, Any]:
    """The arguments that a declared measure needs besides a graph of n vertices, of their kinds.

    It is undirected where the measure is for undirected graphs alone.
    """
    each = MEASURES[name]
    of_kind = {
        "values": torch.linspace(0, 1, n), "value": 1.0, "number": 1.0, "count": 3, "lengths": 1.0,
        "vertices": torch.tensor([0, 2]), "group": torch.tensor([0, 2]),
        "pairs": torch.tensor([[0], [1]]),
    }  # fmt: skip
    found: dict[str, Any] = {"directed": False} if each.undirected else {}
    for option, kind in each.needs.items():
        found[option] = each.choices[option][-1] if kind == "word" else of_kind[kind or option]
    return found
