"""``nx.config.backends.torchcent``: device, engine and threads of the backend."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import networkx as nx
import torch

from torchcent.check import _common as check
from torchcent.check import _weights as check_weights
from torchcent.engines import _driver
from torchcent.graph import Graph


def config() -> Any:
    return nx.config.backends.torchcent


def device() -> torch.device:
    return torch.device(config().device)


def path_engine(graph: Graph) -> str:
    """The configured engine if it can count paths of this graph, otherwise "auto"."""
    return _known(check_weights.ENGINES if graph.is_weighted else check.ENGINES)


def distance_engine(graph: Graph) -> str:
    """The configured engine if it can compute distances of this graph, otherwise "auto"."""
    return _known(check_weights.ENGINES if graph.is_weighted else check.DISTANCE_ENGINES)


def row_engine(graph: Graph) -> str:
    """The configured engine if it can compute distance rows of this graph, otherwise "auto"."""
    return _known(check_weights.ROW_ENGINES if graph.is_weighted else check.ROW_ENGINES)


def _known(engines: tuple[str, ...]) -> str:
    asked = str(config().engine)
    return asked if asked in engines else "auto"


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
