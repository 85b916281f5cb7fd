"""Reading and writing graph files; the suffix selects the format."""

from __future__ import annotations

import os
from typing import IO

from torchcent.check import _files as check_files
from torchcent.check import _positions as check_positions
from torchcent.check import _values as check_values
from torchcent.check._run import DEFAULT, Run, resolved
from torchcent.io._arrays import read_npy, read_npz
from torchcent.io._budget import Budget
from torchcent.io._comments import MARKS
from torchcent.io._edge_list import EdgeList
from torchcent.io._files import FORMATS, format_of, load_bytes, replacing
from torchcent.io._layout import Choice
from torchcent.io._matrix import read_gr, read_metis, read_mtx
from torchcent.io._mcl import read_abc, read_clusters, write_clusters
from torchcent.io._native import read_mci
from torchcent.io._networkx import from_networkx, read_networkx
from torchcent.io._parquet import read_parquet
from torchcent.io._positions import with_positions
from torchcent.io._pt import read_pt
from torchcent.io._scores import write_scores
from torchcent.io._stream_input import format_of_data, load_stream
from torchcent.io._text import Asked, read_edges
from torchcent.io._write import write

__all__ = [
    "FORMATS",
    "EdgeList",
    "from_networkx",
    "read",
    "read_clusters",
    "replacing",
    "write",
    "write_clusters",
    "write_scores",
]


def read(
    path: str | os.PathLike[str],
    *,
    directed: bool | None = None,
    format: str | None = None,
    num_nodes: int | None = None,
    skip: int = 0,
    text_labels: bool | None = None,
    header: bool | None = None,
    comments: str | None = MARKS,
    columns: tuple[int | str | None, int | str | None] = (None, None),
    weight_column: int | str | None = None,
    coordinates: str | os.PathLike[str] | None = None,
    crs: str | None = None,
    labels: str | None = None,
    run: Run = DEFAULT,
) -> EdgeList:
    """Reads a graph file. The suffix selects the format; ``.gz .bz2 .xz .zst`` decompress.

    ===================================  ======================  =============================
    suffix                               format                  directed by default
    ===================================  ======================  =============================
    .txt .tsv .csv .edges .el .edgelist  edge list               as its comments say, else no
    .konect, ``out.*``                   KONECT edge list        as its comments say, else no
    .abc                                 mcl label input         no
    .mci                                 mcl native matrix       unless symmetric
    .mtx                                 Matrix Market           only if ``general``
    .graph                               METIS, DIMACS10         no
    .gr                                  DIMACS shortest paths   unless symmetric
    .graphml .gml                        through networkx        as the file says
    .npz                                 scipy sparse matrix     unless symmetric
    .npy .pt                             ``[2, E]``, ``[E, 2]``  no; .pt as the file says
    .parquet                             table of edges          no
    ===================================  ======================  =============================

    Edge lists (SNAP, KONECT, CSV, ...) have one edge per line: ``source target [weight]``,
    separated by blanks, tabs, commas or semicolons. Lines that begin with ``#`` or ``%`` are
    comments. A header line is recognised, also in the last comment above the rows, and its column
    names (source/target, from/to, gene1/gene2, sender/receiver, weight, ...: docs/files.md)
    determine the columns; Parquet has the same rules. Without a header the third column is the
    weight. ``columns`` and ``weight_column`` choose others; with one of the former, a third column
    of words is no weight. What ``networkx.write_edgelist`` writes is
    read, too: dictionaries behind edges, whose weights have the same names, and comments.

    Ids are either all integers of at most 64 bits or all names. If one begins with zeros that an
    integer would lose, such as ``007``, all are names, with a warning.

    Vertex numbering: ids that are exactly 0..n-1 are the vertex numbers, and ``labels`` is None.
    The same holds for ids below the n given by the file (``# Nodes: n``) or by ``num_nodes``. All
    other ids (counting from 1, with gaps, huge, or names) are numbered in increasing order, and
    ``labels[v]`` is the id of vertex v in the file. Formats that count from 1 (.mtx, .graph, .gr,
    KONECT) have the labels 1..n. In an .abc file all ids are names, numbered by first occurrence.
    In .graphml and .gml vertices are in the order of the file, and their labels are the names that
    igraph, Cytoscape, Gephi, yEd and networkx write: the attribute ``name`` or ``label``, else ids.

    Args:
        path: the file.
        directed: overrides the default of the file.
        format: overrides the suffix: edges, abc, mci, mtx, metis, gr, graphml, gml, npz, npy, pt,
            parquet.
        num_nodes: number of vertices, including isolated vertices that no line mentions.
        skip: number of lines to skip at the top of an edge list.
        text_labels: True treats the ids of an edge list as names even if they look like numbers,
            False reads ``007`` as 7. None: names where an id begins with zeros.
        header: whether the first row of an edge list has the names of the columns. None decides: it
            does if two names are known, or if they stand above numbers. Names such as gene1 and
            gene2 that occur in other rows are those of vertices.
        comments: the characters that begin the comments of an edge list, ``"#%"``, ``"#"`` or
            ``"%"``. None: no line is a comment.
        columns: those of an edge list with the first and the second end of each edge: their names
            in the header, or their numbers, counted from 1; None for one that is not chosen. A name
            makes the first row a header.
        weight_column: the same for the weights; of .graphml, .gml and dictionaries behind edges the
            name of an attribute of the edges, such as the ``length`` of osmnx.
        coordinates: a file with the positions of the vertices, by their ids: DIMACS ``.co``, or a
            table (CSV, .parquet) with a column for the id, and x and y, lon and lat, or longitude
            and latitude. None takes ``name.co`` beside ``name.gr``, and the attributes of nodes of
            .graphml and .gml.
        crs: the coordinate system of the positions, such as ``"EPSG:4326"`` (longitude and latitude
            in degrees, or in millionths of one in ``.co`` files). None: as the file says; that of
            columns called lon and lat, and of ``.co`` files in millionths of a degree, is
            EPSG:4326.
        labels: of .graphml and .gml, the attribute of the nodes that holds their names, or "id" for
            the ids of the file. None takes ``name`` or ``label``, or what yEd draws on a node, if
            every node has one of its own.
        run: how it is computed, see :class:`Run`.

    Returns:
        An :class:`EdgeList`; its ``graph()`` can be passed to every measure.

    Raises:
        FileNotFoundError: the file does not exist.
        ValueError: the suffix is unknown, or the file is empty, truncated, binary or ragged, mixes
            kinds of labels, has an id beyond 64 bits or a weight that is not finite, lacks a chosen
            column, or contradicts its own header. The message names the file and, for text formats,
            the line.
        MemoryError: reading would use more than ``Run(memory=)``; the message gives both sizes.
        TypeError: an argument has the wrong type.
        ImportError: the format needs an extra that is not installed.

    Warns:
        UserWarning: the third column of an edge list with a header holds numbers, but its name is
            not that of a weight, so that the edges have no weights; the ends are taken from columns
            of unknown names beside others; the first row looks like the numbers of vertices and
            edges, or like a header of names that occur in no other row; ids begin with zeros, or
            are whole numbers with decimals (``1.0``); comments that could be rows are left out; the
            rows look like a matrix; the file has fewer vertices than it says; some vertices have no
            position; integer weights beyond 2^53 are rounded to float64; the ids of two columns of
            different kinds, such as user and item, are the same numbers; names of .graphml or .gml
            are missing or not distinct, so that the labels are ids.

    Example:
        >>> import pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name) / "friends.csv"
        >>> _ = path.write_text("source,target\\nAda,Bob\\nBob,Cleo\\n")
        >>> edges = read(path)
        >>> edges.edge_index.tolist(), list(edges.labels)
        ([[0, 1], [1, 2]], ['Ada', 'Bob', 'Cleo'])
        >>> folder.cleanup()
    """
    name = check_files.path(path)
    run = resolved(run, (), "read")
    return _read(
        name, format_of(name, format), data=None, directed=directed, num_nodes=num_nodes,
        skip=skip, text_labels=text_labels, header=header, comments=comments, columns=columns,
        weight_column=weight_column, coordinates=coordinates, crs=crs, labels=labels,
        memory=run.memory,
    )  # fmt: skip


def read_stream(
    file: IO[bytes],
    name: str,
    *,
    directed: bool | None = None,
    format: str | None = None,
    num_nodes: int | None = None,
    skip: int = 0,
    text_labels: bool | None = None,
    header: bool | None = None,
    comments: str | None = MARKS,
    columns: tuple[int | str | None, int | str | None] = (None, None),
    weight_column: int | str | None = None,
    coordinates: str | os.PathLike[str] | None = None,
    crs: str | None = None,
    labels: str | None = None,
    run: Run = DEFAULT,
) -> EdgeList:
    """Reads a graph from a stream such as standard input, whose `name` stands in messages.

    The arguments are those of :func:`read`. Without `format` the data tell it: text of unknown form
    is an edge list. METIS has no mark of its own and must be named. The whole stream is in memory.
    """
    run = resolved(run, (), "read_stream")
    kind = None if format is None else format_of(name, format)
    data = load_stream(file, Budget.of(name, run.memory))
    return _read(
        name, kind or format_of_data(data), data=data, directed=directed, num_nodes=num_nodes,
        skip=skip, text_labels=text_labels, header=header, comments=comments, columns=columns,
        weight_column=weight_column, coordinates=coordinates, crs=crs, labels=labels,
        memory=run.memory,
    )  # fmt: skip


def _read(
    name: str,
    kind: str,
    data: bytes | None,
    directed: bool | None,
    num_nodes: int | None,
    skip: int,
    text_labels: bool | None,
    header: bool | None,
    comments: str | None,
    columns: tuple[int | str | None, int | str | None],
    weight_column: int | str | None,
    coordinates: str | os.PathLike[str] | None,
    crs: str | None,
    labels: str | None,
    memory: int | None,
) -> EdgeList:
    """Checks the arguments and reads the file, or the data if they are given."""
    directed = check_values.flag_or_none(directed, "directed")
    if num_nodes is not None:
        num_nodes = check_files.count(num_nodes, "num_nodes")
    skip = check_files.count(skip, "skip")
    text_labels = check_values.flag_or_none(text_labels, "text_labels")
    header = check_values.flag_or_none(header, "header")
    marks = check_files.marks(comments, "comments", MARKS)
    source, target = check_files.ends(columns)
    choice = Choice(
        check_files.column(source, "columns[0] (--source-column)"),
        check_files.column(target, "columns[1] (--target-column)"),
        check_files.column(weight_column, "weight_column"),
    )
    place = None if coordinates is None else check_files.path(coordinates, "coordinates")
    check_positions.crs(crs)
    check_files.text(labels, "labels")
    if labels is not None and kind not in ("graphml", "gml"):
        raise ValueError(
            f"{name}: labels={check_values.shortened(labels)} is for GraphML and GML, not for "
            f"{kind}"
        )
    attribute = None
    if kind in ("graphml", "gml") and isinstance(choice.weight, str):
        attribute, choice.weight = choice.weight, None
    of_text = {
        f"skip={skip}": skip,
        "text_labels=True": text_labels,
        f"header={header}": header is not None,
        f"comments={comments!r}": marks != MARKS,
    }
    of_tables = {
        f"columns={check_values.shortened(columns)}": choice.source or choice.target,
        f"weight_column={check_values.shortened(weight_column)}": choice.weight,
    }
    given = next((key for key, value in of_text.items() if value), None)
    column = next((key for key, value in of_tables.items() if value), None)
    if kind not in ("edges", "parquet") and column is not None:
        raise ValueError(
            f"{name}: {column} is for tables of edges, text or parquet, not for {kind}"
        )
    if kind != "edges" and given is not None:
        raise ValueError(f"{name}: {given} is for edge lists in text, not for {kind}")
    limits = Budget.of(name, memory)
    if num_nodes is not None:
        limits.vertices(num_nodes)
    with limits.granted():
        if kind == "edges":
            edges = read_edges(
                name, limits, Asked(skip, text_labels, header, marks, choice),
                directed=directed, num_nodes=num_nodes, data=data,
            )  # fmt: skip
        elif kind == "parquet":
            data = load_bytes(name, limits) if data is None else data
            edges = read_parquet(name, data, directed, num_nodes, limits, choice)
        else:
            data = load_bytes(name, limits) if data is None else data
            edges = _read_graph(
                name, kind, data=data, directed=directed, num_nodes=num_nodes, limits=limits,
                weight=attribute, labels=labels,
            )  # fmt: skip
        return with_positions(edges, name, place, crs, limits)


def _read_graph(
    name: str, kind: str, data: bytes, directed: bool | None, num_nodes: int | None,
    limits: Budget, weight: str | None, labels: str | None,
) -> EdgeList:  # fmt: skip
    if kind in ("npy", "pt", "abc"):
        reader = {"npy": read_npy, "pt": read_pt, "abc": read_abc}[kind]
        return reader(name, data, directed, num_nodes, limits)
    if kind in ("graphml", "gml"):
        edges = read_networkx(name, data, directed, kind, limits, weight, labels)
    else:
        read_matrix = {
            "mtx": read_mtx, "metis": read_metis, "gr": read_gr, "npz": read_npz, "mci": read_mci,
        }[kind]  # fmt: skip
        edges = read_matrix(name, data, directed, limits)
    if num_nodes is not None and num_nodes != edges.num_nodes:
        raise ValueError(f"{name}: num_nodes={num_nodes}, but the file has {edges.num_nodes}")
    return edges
