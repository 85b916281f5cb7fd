"""What the functions of Markov clustering make of their arguments before the first iteration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check._run import Run
from torchcent.clustering import _check as check_mcl
from torchcent.clustering import _flow, _plan
from torchcent.clustering._flow import Flow
from torchcent.graph import Graph, _labels
from torchcent.graph._arguments import GraphLike, WeightLike, as_arcs, graph_of


@dataclass(eq=False)
class Setup:
    graph: Graph
    similarity: Tensor
    flow: Flow
    engine: str
    one_way: bool  # whether there are arcs without their reverse
    labels: np.ndarray | None  # the names of the vertices

    def take(self) -> Flow:
        """Returns the flow and drops the reference to it."""
        flow = self.flow
        del self.flow, self.similarity, self.graph
        return flow


def prepare(
    edge_index: GraphLike, edge_weight: WeightLike, *, loops: str | float | None,
    num_nodes: int | None, directed: bool | None, run: Run, batch: Tensor | None = None,
) -> Setup:  # fmt: skip
    kind = check_mcl.loops(loops)
    engine = check.choice(run.engine.name, "engine", _plan.ENGINES)
    ptr = weights = None
    labels = edge_index.labels if isinstance(edge_index, Graph) else None
    if not isinstance(edge_index, Graph):
        arcs = as_arcs(edge_index, num_nodes, directed, edge_weight, batch)
        edge_index, num_nodes, directed, edge_weight, batch, ptr, _, labels = arcs
        if kind is None:  # copied: it is read again below, and another thread may modify it
            edge_index = edge_index.clone()
    weight = check_mcl.similarities(edge_index, edge_weight)
    graph = graph_of(edge_index, None, num_nodes, batch, directed, run, ptr=ptr)
    similarity = _flow.similarities(graph, weight)
    if kind is None and isinstance(edge_index, Tensor):
        weights = _flow.input_loops(edge_index, weight, graph.num_nodes)
    flow = _flow.build(graph, similarity, kind, weights)
    names = _labels.array(labels)
    return Setup(graph, similarity, flow, engine, one_way=not graph.is_symmetric, labels=names)
