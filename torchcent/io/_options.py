"""The options of :func:`torchcent.io.read`, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torchcent.check import _files as check_files
from torchcent.check import _labels as check_labels
from torchcent.check import _positions as check_positions
from torchcent.check import _values as check_values
from torchcent.check._values import shortened
from torchcent.io._files import STREETS
from torchcent.io._layout import ENDS, MARKS, Choice

_OF_NETWORKX = ("graphml", "gml")


@dataclass(frozen=True)
class Options:
    """How the caller wants a file to be read; see :func:`torchcent.io.read`."""

    directed: bool | None = None
    num_nodes: int | None = None
    skip: int = 0
    text_labels: bool | None = None
    header: bool | None = None
    marks: str = MARKS  # of comments
    choice: Choice = Choice()
    attribute: str | None = None  # the weights of GraphML and GML, the lengths of streets
    labels: str | None = None
    before: np.ndarray | None = None  # labels that are numbered first
    coordinates: str | None = None
    crs: str | None = None


def checked(
    path: str, kind: str, *, directed: Any = None, num_nodes: Any = None, skip: Any = 0,
    text_labels: Any = None, header: Any = None, comments: Any = MARKS,
    columns: Any = (None, None), weight_column: Any = None, coordinates: Any = None,
    crs: Any = None, labels: Any = None,
) -> Options:  # fmt: skip
    """The options for a file of this format, which refuses those of others."""
    places = (*check_files.ends(columns), weight_column)
    choice = Choice._make(map(check_files.column, places, (*ENDS, "weight_column")))
    attribute = None
    if kind in (*_OF_NETWORKX, *STREETS) and isinstance(choice.weight, str):
        attribute, choice = choice.weight, choice._replace(weight=None)
    check_positions.crs(crs)
    before = check_labels.of_others(labels)
    if before is not None and before.dtype == object and kind == "edges" and text_labels is None:
        text_labels = True  # 007 and 7 are two
    options = Options(
        directed=check_values.flag_or_none(directed, "directed"),
        num_nodes=None if num_nodes is None else check_files.count(num_nodes, "num_nodes"),
        skip=check_files.count(skip, "skip"),
        text_labels=check_values.flag_or_none(text_labels, "text_labels"),
        header=check_values.flag_or_none(header, "header"),
        marks=check_files.marks(comments, "comments", MARKS),
        choice=choice,
        attribute=attribute,
        labels=labels if isinstance(labels, str) else None,
        before=before,
        coordinates=None if coordinates is None else check_files.path(coordinates, "coordinates"),
        crs=crs,
    )
    of_networkx = (_OF_NETWORKX, "GraphML and GML")
    of_tables = (("edges", "parquet", "blast"), "tables of edges, text or parquet")
    of_text = (("edges",), "edge lists in text")
    of_words = (("edges", "blast"), of_text[1])
    for text, value, (kinds, what) in (
        (f"labels={shortened(labels)}", isinstance(labels, str), of_networkx),
        (f"columns={shortened(columns)}", any(choice[:2]), of_tables),
        (f"weight_column={shortened(weight_column)}", choice.weight, of_tables),
        (f"skip={skip}", options.skip, of_text),
        ("text_labels=True", text_labels, of_words),
        (f"header={header}", header is not None, of_text),
        (f"comments={comments!r}", options.marks != MARKS, of_text),
    ):
        if value and kind not in kinds:
            raise ValueError(f"{path}: {text} is for {what}, not for {kind}")
    return options
