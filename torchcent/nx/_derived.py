"""Functions of NetworkX that measures declare, with no code of their own."""

from __future__ import annotations

import inspect
from typing import Any

import networkx as nx
from torch import Tensor

from torchcent.engines.measures._measures import MEASURES, OPTIONS, Measure
from torchcent.graph import Graph
from torchcent.nx._config import DISTANCES, PATHS
from torchcent.nx._declare import backend


def _declare(each: Measure) -> None:
    """Declares a function with those arguments of NetworkX's that the measure has."""
    assert each.networkx is not None
    theirs = getattr(nx, each.networkx.name)
    parameters = inspect.signature(theirs.orig_func).parameters
    names = [name for name in parameters if name in each.options]

    def compute(graph: Graph, **options: Any) -> Tensor:
        flags = {x: bool(options[x]) for x in names if OPTIONS[x].kind == "flag"}
        scores: Tensor = each.function(graph, **options | flags)
        return scores

    accepted = [inspect.Parameter(x, inspect.Parameter.KEYWORD_ONLY) for x in ("graph", *names)]
    compute.__signature__ = inspect.Signature(accepted)  # type: ignore[attr-defined]
    backend(
        theirs.name, measure=each.name, docs=each.networkx.docs, rules=each.networkx.rules,
        engines=PATHS if each.family == "paths" else DISTANCES,
    )(compute)  # fmt: skip


for _each in MEASURES.values():
    if _each.networkx is not None:
        _declare(_each)
