"""The arguments of a measure's function, from the options of its subcommand."""

from __future__ import annotations

import argparse
from typing import Any

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.cli import _common, _names
from torchcent.engines.measures._measures import DEMAND, OPTIONS, Measure, Option
from torchcent.graph import Graph
from torchcent.io import EdgeList, read_clusters

#: where a group is given, and the names of its vertices
Listed = tuple[str, list[str]]
# kinds of arguments for which files name vertices
_FILES = ("vertices", "values", "value", "parts")


def own_options(measure: Measure, args: argparse.Namespace) -> dict[str, Any]:
    """The arguments of the function that are options of the subcommand, as they were given."""
    own = {name: OPTIONS.get(name, Option("")) for name in measure.options}
    return {
        name: getattr(args, option.flag or name)
        for name, option in own.items() if option.kind not in ("", "places")
    }  # fmt: skip


def _demand(measure: Measure, args: argparse.Namespace) -> dict[str, str]:
    """The files with numbers of all vertices at an end of paths, by the names of the arguments."""
    files = {name: getattr(args, flag) for name, flag in DEMAND.items()} if measure.demand else {}
    return {name: path for name, path in files.items() if path is not None}


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
    recorded |= {DEMAND[name]: path for name, path in _demand(measure, args).items()}
    if getattr(args, "reversed", False):
        recorded["reversed"] = True
    if is_random(args) or (measure.parts_of and "seed" in args):
        recorded["seed"] = args.seed
    return recorded


def arguments(
    measure: Measure, args: argparse.Namespace, edges: EdgeList, graph: Graph, groups: list[Listed]
) -> dict[str, Any]:
    """The arguments besides the graph and the run; vertices are numbers here."""
    chance = torch.Generator().manual_seed(args.seed) if "seed" in args else None
    values, demand = own_options(measure, args), _demand(measure, args)
    kinds = {name: OPTIONS.get(name, Option("")).kind for name in measure.options}
    by_name = any(isinstance(values[x], str) for x in values if kinds[x] in _FILES)
    # Of large graphs the names take time and memory.
    named = by_name or groups or demand
    number = _common.numbers_of(edges.vertex_labels()) if named else {}
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
        elif kind == "parts":
            values[name] = _parts(args, value, number, edges).to(graph.device)
    for name, path in demand.items():
        values[name] = _values(args, path, number, graph.num_nodes).to(graph.device)
    values |= {name: edges.positions for name, kind in kinds.items() if kind == "places"}
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


def _parts(args: argparse.Namespace, path: str, number: dict[str, int], edges: EdgeList) -> Tensor:
    """The number of the part of each vertex; all must be in one."""
    label, parts = torch.full((edges.num_nodes,), -1, device="cpu"), dict[str, int]()
    for where, name, part in _names.read_parts(path):
        vertex = _vertex(args, where, _names.plain(name, number), number)
        if label[vertex] >= 0:
            raise ValueError(f"{where}: {name!r} stands there twice")
        label[vertex] = parts.setdefault(part, len(parts))
    missing = torch.nonzero(label < 0).flatten()
    if missing.numel():
        name = edges.vertex_labels()[int(missing[0])]
        raise ValueError(
            f"{path}: {name!r} is in none; every vertex of {args.graph} must be in one"
        )
    return label


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
