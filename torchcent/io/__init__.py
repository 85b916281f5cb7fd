"""Reading and writing graph files; the suffix selects the format."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import IO, Any

from torchcent.check import _files as check_files
from torchcent.check._run import DEFAULT, Run, resolved
from torchcent.io._aligned import aligned
from torchcent.io._arrays import read_npy, read_npz, read_pt
from torchcent.io._blast import read_blast
from torchcent.io._budget import Budget
from torchcent.io._edge_list import EdgeList
from torchcent.io._files import (
    FORMATS,
    STREETS,
    format_of,
    format_of_data,
    load_bytes,
    load_stream,
    replacing,
)
from torchcent.io._layout import MARKS
from torchcent.io._matrix import read_gr, read_metis, read_mtx
from torchcent.io._mcl import read_abc, read_clusters, write_clusters
from torchcent.io._native import read_mci
from torchcent.io._networkx import from_networkx, read_networkx
from torchcent.io._options import Options, checked
from torchcent.io._parquet import read_parquet
from torchcent.io._positions import with_positions
from torchcent.io._scores import write_scores
from torchcent.io._streets import (
    How,
    is_frame,
    of_frame,
    read_lines,
    read_streets,
    street_table,
)
from torchcent.io._text import read_edges
from torchcent.io._write import write

__all__ = [
    "FORMATS", "EdgeList", "from_networkx", "read", "read_clusters", "read_streets", "replacing",
    "street_table", "write", "write_clusters", "write_scores",
]  # fmt: skip


def read(
    path: str | os.PathLike[str] | Any,
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
    labels: Any = None,
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
    .gr                                  DIMACS paths, PACE      unless symmetric; PACE no
    .graphml .gml                        through networkx        as the file says
    .npz                                 scipy sparse matrix     unless symmetric
    .npy .pt                             ``[2, E]``, ``[E, 2]``  no; .pt as the file says
    .parquet                             table of edges          no
    .m8 .b6 .blast                       BLAST's table           no
    .gpkg .shp .geojson                  lines of streets        no: :func:`read_streets`
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
    A table of BLAST, DIAMOND or MMseqs2 (-outfmt 6, -m 8, -outfmt 7) gives similarities, as mcl's
    manual makes them of E-values: -log10, at most 200. Hits with E >= 1 are left out, with a
    warning; of several hits of a pair, in both directions, mcl takes the largest. Names are text.
    In .graphml and .gml vertices are in the order of the file, and their labels are the names that
    igraph, Cytoscape, Gephi, yEd and networkx write: the attribute ``name`` or ``label``, else ids.

    Args:
        path: the file, or a GeoDataFrame of lines, as for :func:`read_streets`, which has more
            options for them.
        directed: overrides the default of the file.
        format: overrides the suffix: edges, abc, mci, mtx, metis, gr, graphml, gml, npz, npy, pt,
            parquet, gpkg, shp, geojson, blast.
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
            name of an attribute of the edges, such as the ``length`` of osmnx; of streets that of a
            column of lengths.
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
            every node has one of its own. Of any file: an EdgeList, a Graph or the labels of an
            earlier file, such as last month's. Its vertices keep their numbers here, and those
            that this file lacks have no edges. New labels follow, in the order of this file. If the
            earlier labels are text, those of an edge list are read as text.
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
            different kinds, such as user and item, are the same numbers; columns such as sender and
            receiver name a direction, and `directed` is None; an edge list looks like a table of
            BLAST; names of .graphml or .gml are missing or not distinct, so that the labels are
            ids.

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
    run = resolved(run, (), "read")
    options = {
        "directed": directed, "num_nodes": num_nodes, "skip": skip, "text_labels": text_labels,
        "header": header, "comments": comments, "columns": columns, "weight_column": weight_column,
        "coordinates": coordinates, "crs": crs, "labels": labels,
    }  # fmt: skip
    if is_frame(path):
        how = _of_streets(checked("GeoDataFrame", "gpkg", **options))
        return of_frame("GeoDataFrame", path, how)
    name = check_files.path(path)
    return _read(Budget.of(name, run.memory), format_of(name, format), None, **options)


def _of_streets(options: Options) -> How:
    return How(length=options.attribute, directed=options.directed, crs=options.crs)


def _read_streets(data: bytes, limits: Budget, options: Options, format: str) -> EdgeList:
    return read_lines(data, limits, _of_streets(options), format)


def read_stream(
    file: IO[bytes], name: str, *, format: str | None = None, run: Run = DEFAULT, **options: Any
) -> EdgeList:
    """Reads a graph from a stream such as standard input, whose `name` stands in messages.

    The options are those of :func:`read`. Without `format` the data tell it: text of unknown form
    is an edge list. METIS has no mark of its own and must be named. The whole stream is in memory.
    """
    run = resolved(run, (), "read_stream")
    kind = None if format is None else format_of(name, format)
    limits = Budget.of(name, run.memory)
    data = load_stream(file, limits)
    return _read(limits, kind or format_of_data(data), data, **options)


def _read(limits: Budget, kind: str, data: bytes | None, **values: Any) -> EdgeList:
    """Checks the options and reads the file, or the data if they are given."""
    path = limits.path
    options = checked(path, kind, **values)
    if options.num_nodes is not None:
        limits.vertices(options.num_nodes)
    with limits.granted():
        if data is None and kind != "edges":  # edge lists are read piece by piece
            data = load_bytes(path, limits)
        edges = _READERS[kind](data, limits, options)
        if options.num_nodes not in (None, edges.num_nodes):
            raise ValueError(
                f"{path}: num_nodes={options.num_nodes}, but the file has {edges.num_nodes}"
            )
        edges = with_positions(edges, limits, options)
        return edges if options.before is None else aligned(edges, options.before, path)


_READERS: dict[str, Callable[[Any, Budget, Options], EdgeList]] = {
    "edges": read_edges, "abc": read_abc, "mci": read_mci, "mtx": read_mtx, "metis": read_metis,
    "gr": read_gr, "npz": read_npz, "npy": read_npy, "pt": read_pt, "parquet": read_parquet,
    "graphml": partial(read_networkx, format="graphml"),
    "gml": partial(read_networkx, format="gml"),
    "blast": read_blast,
    **{kind: partial(_read_streets, format=kind) for kind in STREETS},
}  # fmt: skip
