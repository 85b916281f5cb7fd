"""The arguments of a measure's function, from the options of its subcommand."""

from __future__ import annotations

import argparse
from typing import Any

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.cli import _common, _names
from torchcent.engines.measures._measures import OPTIONS, Measure
from torchcent.graph import Graph
from torchcent.io import EdgeList, read_clusters

#: where a group is given, and the names of its vertices
Listed = tuple[str, list[str]]
# kinds of arguments for which files name vertices
_FILES = ("vertices", "values", "value")


def own_options(measure: Measure, args: argparse.Namespace) -> dict[str, Any]:
    """The arguments of the function that are options of the subcommand, as they were given."""
    return {name: getattr(args, name) for name in measure.options if OPTIONS[name].kind}


def is_random(args: argparse.Namespace) -> bool:
    """Whether the sources are drawn."""
    return isinstance(getattr(args, "sources", None), int)


def about(measure: Measure, args: argparse.Namespace) -> dict[str, Any]:
    """What is recorded of the arguments: those that differ from the default."""
    recorded = {}
    for name, value in own_options(measure, args).items():
        default = measure.options[name].default
        same = list(value) == list(default) if isinstance(default, tuple) else value == default
        if OPTIONS[name].kind != "group" and not same:
            recorded[name] = value
    if getattr(args, "reversed", False):
        recorded["reversed"] = True
    if is_random(args):
        recorded["seed"] = args.seed
    return recorded


def arguments(
    measure: Measure, args: argparse.Namespace, edges: EdgeList, graph: Graph, groups: list[Listed]
) -> dict[str, Any]:
    """The arguments besides the graph and the run; vertices are numbers here."""
    chance = torch.Generator().manual_seed(args.seed) if "seed" in args else None
    values, kinds = own_options(measure, args), {x: OPTIONS[x].kind for x in measure.options}
    by_name = groups or any(isinstance(values[x], str) for x in values if kinds[x] in _FILES)
    # Of large graphs the names take time and memory.
    number = _common.numbers_of(edges.vertex_labels()) if by_name else {}
    for name, value in values.items():
        kind = kinds[name]
        if kind == "group":
            values[name] = [_members(args, each, number).to(graph.device) for each in groups]
        elif kind == "vertices" and isinstance(value, int):
            values[name] = check.sources(value, graph, chance)
        elif kind == "vertices" and value is not None:
            values[name] = named_vertices(args, value, number).to(graph.device)
        elif kind in ("values", "value") and isinstance(value, str):
            values[name] = _values(args, value, number, graph.num_nodes).to(graph.device)
    return values | ({"generator": chance} if "generator" in measure.options else {})


def named_vertices(args: argparse.Namespace, path: str, number: dict[str, int]) -> Tensor:
    """The numbers of the vertices whose names a file has."""
    vertices: dict[int, None] = {}
    for line, name in _names.read_names(path, number):
        vertex = _vertex(args, f"{path}:{line}", name, number)
        if vertex in vertices:
            raise ValueError(f"{path}:{line}: {name!r} stands there twice")
        vertices[vertex] = None
    return torch.tensor(list(vertices), dtype=torch.int64, device="cpu")


def _values(args: argparse.Namespace, path: str, number: dict[str, int], n: int) -> Tensor:
    """The number that a file has for each vertex, 0 for others."""
    values = torch.zeros(n, dtype=torch.float64, device="cpu")
    for line, name, value in _names.read_states(path, number):
        values[_vertex(args, f"{path}:{line}", name, number)] = value
    return values


def listed_groups(args: argparse.Namespace) -> list[Listed]:
    """The groups that are given."""
    groups = [(f"--group {text}", _names.listed(text)) for text in args.group]
    if args.groups is not None:
        lines = read_clusters(args.groups)
        groups += [(f"{args.groups}, group {at}", names) for at, names in enumerate(lines, 1)]
    if not groups:
        raise ValueError("--group NAME,... or --groups FILE is required")
    for where, names in groups:
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"{where}: {twice!r} stands there twice")
    return groups


def _members(args: argparse.Namespace, group: Listed, number: dict[str, int]) -> Tensor:
    where, names = group
    return torch.tensor([_vertex(args, where, name, number) for name in names])


def _vertex(args: argparse.Namespace, where: str, name: str, number: dict[str, int]) -> int:
    if name not in number:
        raise ValueError(f"{where}: {name!r} is no vertex of {args.graph}")
    return number[name]
