"""``nx.config.backends.torchcent``: device, engine and threads of the backend."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import networkx as nx
import torch

from torchcent.check import _common as check
from torchcent.check import _weights as check_weights
from torchcent.check._run import Run, quiet
from torchcent.engines import _driver
from torchcent.graph import Graph


def config() -> Any:
    return nx.config.backends.torchcent


def device() -> torch.device:
    return torch.device(config().device)


_EXACT = Run(dtype=torch.float64)


def run_for_paths(graph: Graph) -> Run:
    """How paths of this graph are counted."""
    return _with_engine(check_weights.ENGINES if graph.is_weighted else check.ENGINES) | _EXACT


def run_for_distances(graph: Graph, scores: bool = True) -> Run:
    """How distances of this graph are computed; the result may be vertices instead of scores."""
    known = check_weights.ENGINES if graph.is_weighted else check.DISTANCE_ENGINES
    return _with_engine(known) | _EXACT if scores else _with_engine(known)


def run_for_rows(graph: Graph) -> Run:
    """How rows of distances of this graph are computed."""
    return _with_engine(check_weights.ROW_ENGINES if graph.is_weighted else check.ROW_ENGINES)


def _with_engine(known: tuple[str, ...]) -> Run:
    """With the configured engine, if it is one of those that suit the graph."""
    run, asked = quiet(), str(config().engine)
    if asked != "auto":
        run |= Run(engine=asked)
    return run if run.engine.name in known else run | Run(engine="auto")


@contextmanager
def refusals() -> Iterator[None]:
    """Converts ValueError, such as for weights that vanish beside others, to a fallback."""
    try:
        yield
    except ValueError as error:
        raise NotImplementedError(str(error)) from error


@contextmanager
def running() -> Iterator[None]:
    """Context of every search: sets the threads, and counts in float64, as NetworkX does."""
    threads, before = config().threads, torch.get_num_threads()
    if threads is not None:
        torch.set_num_threads(threads)
    try:
        with refusals(), _driver.counts_in_float64():
            yield
    finally:
        if threads is not None:
            torch.set_num_threads(before)
