"""What a measure returns, as the columns of a table: of vertices, of edges, of groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

import torchcent
from torchcent.cli import _names
from torchcent.engines.measures._measures import OPTIONS, Measure
from torchcent.engines.measures._measures import columns as all_columns
from torchcent.graph import Graph
from torchcent.io import EdgeList, street_table
from torchcent.walks._local import numbers_of_arcs


def name_of(measure: Measure) -> str:
    """The name of its scores, in words; approximations have that of what they approximate."""
    return measure.name.removesuffix("_approx").replace("_", " ")


def are_several(measure: Measure, options: Mapping[str, Any]) -> bool:
    """Whether there are several columns of scores, known before they are computed."""
    # A file has one column of numbers.
    values = {name: None if isinstance(x, str) else x for name, x in options.items()}
    several = measure.width is not None and measure.width(values) is not None
    return several or bool(measure.parts) or isinstance(values.get("cutoff"), list)


def score_columns(measure: Measure, result: Any, values: Mapping[str, Any]) -> dict[str, Tensor]:
    """The columns of a result, by name; the last one ranks the rows."""
    name = name_of(measure)
    if isinstance(result, torchcent.Approximation):
        ends = {"lower": result.lower, "upper": result.upper}
        return ({} if result.method == "exact" else ends) | {name: result.scores}
    if measure.parts and result[0].dim() == 1:
        return dict(zip(measure.parts, result, strict=True))
    if measure.parts:
        parts = zip(measure.parts, result, strict=True)
        return {key: x for part in parts for key, x in _matrix(measure, values, *part).items()}
    if result.dim() == 1:
        return {name: result}
    return _matrix(measure, values, name, result)


def _matrix(
    measure: Measure, values: Mapping[str, Any], name: str, result: Tensor
) -> dict[str, Tensor]:
    names = _several(measure, values, name, result.shape[1])
    return dict(zip(names, result.unbind(1), strict=True))


def _several(measure: Measure, values: Mapping[str, Any], name: str, count: int) -> list[str]:
    """The names of the columns of a matrix, from the argument that has one for each."""
    kinds = {OPTIONS[name].kind: name for name in measure.options}
    if "lengths" in kinds:
        return [f"{name} within {length:g}" for length in values[kinds["lengths"]]]
    if "columns" in kinds:
        names = values[kinds["columns"]]
        scaled = values["normalized"]
        return [f"normalized {each}" if scaled and _is_raw(each) else each for each in names]
    return [f"{kinds['count'].partition('_')[0]} {number + 1}" for number in range(count)]


def _is_raw(column: str) -> bool:
    """Whether the command of this name does not normalise, unless it is told to."""
    measure = all_columns()[column]
    option = measure.options.get("normalized")
    return measure.name == column and option is not None and option.default is False


def edge_rows(edges: EdgeList, graph: Graph) -> np.ndarray:
    """The rows of a file that stand for an edge; no loops, the first of repeated edges."""
    row, col = edges.edge_index.numpy()
    _, first = np.unique(edges._pairs(graph.directed), return_index=True)
    rows: np.ndarray = np.sort(first[row[first] != col[first]])
    return rows


def drawn(
    measure: Measure, edges: EdgeList, graph: Graph, scores: Tensor
) -> tuple[EdgeList, Tensor]:
    """Each edge or street once, as a map shows them, and their scores."""
    if edges.streets is None:
        rows = edge_rows(edges, graph)
        return replace(edges, edge_index=edges.edge_index[:, rows], edge_weight=None), scores[rows]
    lines, first = np.unique(edges.streets.rows.numpy(), return_index=True)
    values = of_streets(measure, edges, graph, {"score": scores})["score"].to_numpy()[lines]
    streets = replace(edges.streets, rows=edges.streets.rows[first])
    index = edges.edge_index[:, first]
    once = replace(edges, edge_index=index, edge_weight=None, streets=streets)
    return once, torch.from_numpy(values)


def of_streets(
    measure: Measure, edges: EdgeList, graph: Graph, scores: Mapping[str, Tensor]
) -> Any:
    """The lines of a file of streets with their scores, a GeoDataFrame."""
    weights = None
    if graph.is_weighted:
        weights = "lengths" if measure.weights == "lengths" else "conductances"
    return street_table(edges, scores, weights=weights)


def table(
    measure: Measure, edges: EdgeList, graph: Graph, groups: list[list[str]],
    scores: Mapping[str, Tensor],
) -> dict[str, Any]:  # fmt: skip
    """What the rows are, vertices, edges or groups, and their scores."""
    columns: dict[str, Any]
    rows: Any = slice(None)
    if measure.of == "groups":
        columns = {"group": [_names.joined(names) for names in groups]}
        columns["size"] = np.array([len(names) for names in groups])
    elif measure.of == "edges" and edges.streets is not None:
        lines, first = np.unique(edges.streets.rows.numpy(), return_index=True)
        source, target = edges.vertex_labels()[edges.edge_index[:, first].numpy()]
        values = of_streets(measure, edges, graph, scores)
        return {"source": source, "target": target} | {
            name: values[name].to_numpy()[lines] for name in scores
        }
    elif measure.of == "edges":
        rows = edge_rows(edges, graph)
        source, target = edges.vertex_labels()[edges.edge_index[:, rows].numpy()]
        columns = {"source": source, "target": target}
    else:
        columns = {"label": edges.vertex_labels()}
        if "degree" not in scores:
            columns |= degree(graph)
    return columns | {name: column.cpu().numpy()[rows] for name, column in scores.items()}


def degree(graph: Graph) -> dict[str, np.ndarray]:
    """The column of what `torchcent degree` says without weights, under the name of its arcs."""
    arcs = numbers_of_arcs(graph).long().cpu().numpy()
    return {"out_degree" if graph.directed else "degree": arcs}


def geometry(measure: Measure, edges: EdgeList, graph: Graph) -> Tensor | None:
    """The points of the vertices, or the lines of the edges, in the order of the columns."""
    if edges.positions is None or measure.of == "groups":
        return None
    if measure.of == "edges" and edges.streets is not None:
        return None  # their lines are written with all columns of the file
    if measure.of == "vertices":
        return edges.positions
    return edges.positions[edges.edge_index[:, edge_rows(edges, graph)].T]
