"""``nx.config.backends.torchcent``: device, engine and threads of the backend."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import networkx as nx
import torch

from torchcent.check import _common as check
from torchcent.check import _weights as check_weights
from torchcent.check._run import Engine, Run, quiet, surrounding
from torchcent.engines.search import _driver
from torchcent.graph import Graph

#: the engines of a family, by hops and by weights
Engines: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
PATHS: Engines = (check.ENGINES, check_weights.ENGINES)
DISTANCES: Engines = (check.DISTANCE_ENGINES, check_weights.ENGINES)
ROWS: Engines = (check.ROW_ENGINES, check_weights.ROW_ENGINES)
_EXACT = Run(dtype=torch.float64)


def config() -> Any:
    return nx.config.backends.torchcent


def device() -> torch.device:
    return torch.device(config().device)


def _suitable(graph: Graph, engines: Engines) -> Engine:
    """The configured engine, or else that of the surrounding Run, if the family has it."""
    name = str(config().engine)
    engine = surrounding().engine if name == "auto" else Engine(name)
    suits = engine.name in engines[graph.is_weighted]
    if engines is not PATHS:
        suits = suits and check.finds_distances(engine.name, graph.device)
    return engine if suits else Engine()


@contextmanager
def refusals() -> Iterator[None]:
    """Converts ValueError, such as for weights that vanish beside others, to a fallback."""
    try:
        yield
    except ValueError as error:
        raise NotImplementedError(str(error)) from error


@contextmanager
def threads() -> Iterator[int]:
    """The configured number of threads."""
    number, before = config().threads, torch.get_num_threads()
    if number is None:
        yield before
        return
    torch.set_num_threads(number)
    try:
        yield number
    finally:
        torch.set_num_threads(before)


@contextmanager
def running(graph: Graph | None = None, engines: Engines | None = None) -> Iterator[None]:
    """Context of every measure: float64 as in NetworkX, the configured threads and engine."""
    run = quiet() | _EXACT
    if graph is not None and engines is not None:
        run = run | Run(engine=_suitable(graph, engines))
    with threads(), refusals(), _driver.counts_in_float64(), run:
        yield
