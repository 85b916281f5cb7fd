"""NetworkX's cache of converted graphs: what it holds, and its warning, once."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from typing import Any

import networkx as nx

from torchcent.nx._graph import BackendGraph

_ITS_WARNING = r"(?s)Note: conversions to backend graphs are saved to cache.*'torchcent' backend"
_warned = False


def holds(graph: Any, weight: Hashable) -> bool:
    """Whether the graph is in NetworkX's cache, with this attribute."""
    return held(graph, weight) is not None


def held(graph: Any, weight: Hashable) -> BackendGraph | None:
    """The graph in NetworkX's cache that has this attribute."""
    cache = getattr(graph, "__networkx_cache__", None) or {}
    made = cache.get("backends", {}).get("torchcent", {})
    known = (x for x in list(made.values()) if isinstance(x, BackendGraph) and x.holds(weight))
    return next(known, None)


def warn_once(graph: Any, weight: Hashable) -> None:
    """Called before each call of a function.

    NetworkX warns that it uses a cached graph, with a text that names the function, so that Python
    shows it again for every function. After the first of these, they are filtered out.
    """
    global _warned
    if "cache" in nx.config.warnings_to_ignore or not holds(graph, weight):
        return
    if _warned:
        warnings.filterwarnings("ignore", _ITS_WARNING, UserWarning)
    _warned = True
