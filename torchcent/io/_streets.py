"""Streets: lines of GeoPackage, Shapefile and GeoJSON files and of GeoDataFrames as edges."""

from __future__ import annotations

import contextlib
import io
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _files as check_files
from torchcent.check import _positions as check_positions
from torchcent.check import _values as check_values
from torchcent.check._run import DEFAULT, Run, resolved
from torchcent.io import _lines
from torchcent.io._arrays import parsing
from torchcent.io._budget import Budget
from torchcent.io._cells import column_arrays
from torchcent.io._edge_list import EdgeList, Streets
from torchcent.io._files import load_bytes, replacing, split_suffix
from torchcent.io._scores import check_geo
from torchcent.runtime._optional import need

#: suffixes of files of lines
SUFFIXES = (".gpkg", ".shp", ".geojson")
_BYTES = 16  # of a frame, per byte of a file
_BEGINS = {"gpkg": b"SQLite format 3\0", "shp": b"\0\0\x27\x0a", "geojson": b"{"}


@dataclass(frozen=True)
class How:
    """How the caller wants lines to be read; see :func:`read_streets`."""

    layer: str | None = None
    length: str | None = None
    oneway: str | None = None
    tolerance: float = 0.0
    directed: bool | None = None
    crs: str | None = None

    @staticmethod
    def checked(
        layer: Any, length: Any, oneway: Any, tolerance: Any, directed: Any, crs: Any
    ) -> How:
        return How(
            check_files.text(layer, "layer"),
            check_files.text(length, "length"),
            check_files.text(oneway, "oneway"),
            _lines.tolerance(tolerance),
            check_values.flag_or_none(directed, "directed"),
            check_positions.crs(crs),
        )


def read_streets(
    source: Any,
    *,
    layer: str | None = None,
    length: str | None = None,
    oneway: str | None = None,
    tolerance: float = 0.0,
    directed: bool | None = None,
    crs: str | None = None,
    run: Run = DEFAULT,
) -> EdgeList:
    """Reads a network of streets: each line is an edge between the places where it ends.

    :func:`read` calls this function for files that end in .gpkg, .shp and .geojson, and for a
    GeoDataFrame. Lines that end at the same coordinates meet there; lines that only cross do not.
    The vertices are these places, numbered in the order of the lines, with their positions. Weights
    are the lengths. ``streets`` of the result keeps the lines with all of their columns, and
    :func:`street_table` adds scores to them.

    - Lengths are those of the plane in the unit of the coordinate system, as in geopandas and
      momepy. Of longitude and latitude they are lengths on the ellipsoid of the system, in metres.
      Without a system, and of Web Mercator, whose lengths are too long away from the equator, a
      warning says so.
    - The third coordinate is not used, neither for lengths nor for ends. It stays with the lines.
    - A line that ends where it begins is a loop, and several lines may have the same ends. Both are
      kept. Searches use the shortest of parallel streets and no loops.
    - A MultiLineString is one street if its parts follow each other, else a street per part.
    - Empty geometries and lines without length are left out, with a warning. In ``streets`` they
      stay.
    - An edge table of osmnx (columns u, v and key) keeps its nodes: labels are their ids. Where it
      has both directions of every two-way street, its rows are the arcs.

    Args:
        source: the path of a file (also .gpkg.gz, .geojson.gz), or a GeoDataFrame.
        layer: the layer of a GeoPackage; None is the only one of lines.
        length: the column with lengths, such as ``length`` or ``travel_time``; None measures.
        oneway: the column with the directions of streets, by the words of OSM: yes, true, 1 (along
            the line), -1, reverse (against it), no, false, 0 or nothing (both). F, T and B of
            Geofabrik, FT and TF mean the same. Other words are taken as both, with a warning. The
            graph is then directed.
        tolerance: ends that are at most so far apart are one place, in the unit of the coordinates;
            so are those of a chain of such ends.
        directed: True without `oneway` takes each line as an arc along its direction.
        crs: the coordinate system, where the file does not say it.
        run: how it is computed, see :class:`Run`.

    Returns:
        An :class:`EdgeList` with weights, positions, crs and streets.

    Raises:
        ImportError: geopandas or pyogrio is not installed.
        ValueError: there is no layer of lines, or several; a geometry is no line; a column is
            missing, or a length is not finite and positive. The message names the row.
        TypeError: an argument has the wrong type.

    Warns:
        UserWarning: see above; also if a column called oneway is not used.

    Example:
        >>> import geopandas, shapely, torchcent
        >>> lines = [shapely.LineString([(0, 0), (3, 4)]), shapely.LineString([(3, 4), (3, 9)])]
        >>> frame = geopandas.GeoDataFrame({"oneway": ["yes", "no"]}, geometry=lines, crs=32633)
        >>> streets = read_streets(frame, oneway="oneway")
        >>> streets.edge_index.tolist(), streets.edge_weight.tolist()
        ([[0, 1, 2], [1, 2, 1]], [5.0, 5.0, 5.0])
    """
    run = resolved(run, (), "read_streets")
    how = How.checked(layer, length, oneway, tolerance, directed, crs)
    if is_frame(source):
        return of_frame("GeoDataFrame", source, how)
    path = check_files.path(source, "source")
    suffix = split_suffix(path)[0]
    if suffix not in SUFFIXES:
        accepted = " ".join(SUFFIXES)
        raise ValueError(
            f"{path:.200}: source has the unknown suffix {suffix!r}; accepted: {accepted}"
        )
    limits = Budget.of(path, run.memory)
    with limits.granted():
        return read_lines(load_bytes(path, limits), limits, how, suffix[1:])


def is_frame(value: Any) -> bool:
    """Whether it is a GeoDataFrame, without importing geopandas."""
    return any(each.__module__.startswith("geopandas") for each in type(value).__mro__)


def read_lines(data: bytes, limits: Budget, how: How, kind: str) -> EdgeList:
    """Reads a file of lines, whose other parts lie beside it if it is a Shapefile."""
    path = limits.path
    what = f"reading .{kind}"
    pyogrio = need("pyogrio", "geo", what)
    need("geopandas", "geo", what)
    # GDAL looks at the contents, and reads formats that name other files and addresses.
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(_BEGINS[kind]):
        raise ValueError(f"{path}: not a .{kind} file; it begins with {data[:16]!r}")
    if kind == "shp" and (split_suffix(path) != (".shp", "") or not os.path.isfile(path)):
        raise ValueError(f"{path}: a Shapefile has several files; accepted: the path of its .shp")
    limits.allow(_BYTES * len(data), "the lines and their columns")
    place: Any = os.path.abspath(path) if kind == "shp" else data
    with parsing(path, f"a .{kind} file"), _without_remarks():
        layers = [(str(name), str(kind)) for name, kind in pyogrio.list_layers(place)]
    number = _layer(path, layers, how.layer)
    with parsing(path, f"a .{kind} file"), _without_remarks():
        frame = pyogrio.read_dataframe(place, layer=number)
    if not is_frame(frame):
        raise ValueError(f"{path}: layer {layers[number][0]!r} has no geometries")
    return of_frame(path, frame, how)


@contextlib.contextmanager
def _without_remarks() -> Iterator[None]:
    """Leaves out what GDAL says of a file in memory, whose name has no suffix."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "File /vsimem/", RuntimeWarning)
        yield


def _layer(path: str, layers: list[tuple[str, str]], chosen: str | None) -> int:
    """The number of the layer that is chosen, or of the only one that may have lines.

    GDAL calls the layer of a GeoJSON without a name as the file, which is in memory.
    """
    listed = ", ".join(f"{name!r} ({kind})" for name, kind in layers)[:300]
    if chosen is not None:
        if chosen not in (name for name, _ in layers):
            raise ValueError(f"{path}: layer={chosen!r} is not there; accepted: {listed}")
        return [name for name, _ in layers].index(chosen)
    kinds = [kind for _, kind in layers]
    lines = [at for at, kind in enumerate(kinds) if "Line" in kind or "Curve" in kind]
    if not lines:
        known = ("Unknown", "Geometry")
        lines = [at for at, kind in enumerate(kinds) if kind.startswith(known)]
    if len(lines) != 1:
        number = "no" if not lines else str(len(lines))
        raise ValueError(
            f"{path}: {number} layers of lines; layer= (--layer) names one: {listed or 'none'}"
        )
    return lines[0]


def of_frame(path: str, frame: Any, how: How) -> EdgeList:
    """The edges of a GeoDataFrame; `path` stands in messages."""
    shapely = need("shapely", "geo", "reading streets")
    frame, shapes = _lines.single(path, shapely, _lines.with_system(path, frame, how.crs))
    has_ends = ~(shapely.is_missing(shapes) | shapely.is_empty(shapes))
    length = _lines.lengths(path, shapely, frame, shapes)
    _warn_of_lost(path, has_ends, length)
    lines = np.flatnonzero(has_ends & (length > 0))
    if how.length is not None:
        length[lines] = _lines.length_column(path, frame, how.length)[lines]
    shapes, length = shapes[lines], length[lines]
    places = _lines.ends(shapely, shapes)
    vertices, positions, labels = _lines.vertices(frame, lines, places, how.tolerance)
    forward, backward, directed = _directions(path, frame, lines, vertices, how)
    pairs = np.stack([vertices, vertices[:, ::-1]], 1)[np.stack([forward, backward], 1)]
    rows = np.repeat(np.arange(len(lines)), forward.astype(np.int64) + backward)
    return EdgeList(
        torch.from_numpy(np.ascontiguousarray(pairs.T)), torch.from_numpy(length[rows]), labels,
        len(positions), directed, torch.from_numpy(positions),
        None if frame.crs is None else str(frame.crs.to_string()),
        Streets(frame, torch.from_numpy(lines[rows])),
    )  # fmt: skip


def _warn_of_lost(path: str, has_ends: np.ndarray, length: np.ndarray) -> None:
    empty, short = int((~has_ends).sum()), int((has_ends & ~(length > 0)).sum())
    parts = [f"{empty:,} rows without a geometry"] * (empty > 0)
    parts += [f"{short:,} lines without length"] * (short > 0)
    if parts:
        _lines.warn(f"{path}: {' and '.join(parts)} are left out")


def _directions(
    path: str, frame: Any, lines: np.ndarray, vertices: np.ndarray, how: How
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Which lines are arcs along their direction, and against it; and whether arcs are directed."""
    every, none = np.ones(len(lines), bool), np.zeros(len(lines), bool)
    if how.oneway is not None:
        if how.directed is False:
            raise ValueError(f"{path}: oneway={how.oneway!r} and directed=False exclude each other")
        forward, backward = _lines.oneway(path, frame, how.oneway)
        return forward[lines], backward[lines], True
    if how.directed is None and _lines.has_both_directions(frame, lines, vertices):
        return every, none, True
    if how.directed is None and "oneway" in frame.columns:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            forward, backward = _lines.oneway(path, frame, "oneway")
        if count := int((forward != backward)[lines].sum()):
            _lines.warn(
                f"{path}: the column 'oneway', by which {count:,} streets lead one way, is not "
                "used; oneway='oneway' (--oneway oneway) uses it, directed=False (--undirected) "
                "says so",
            )
    return every, none, bool(how.directed)


def street_table(
    edges: EdgeList, columns: Mapping[str, Tensor | np.ndarray], *, weights: str | None = None
) -> Any:
    """The lines of street files with scores of their edges as columns.

    Of parallel streets the shortest have the score of their pair of vertices, in equal parts, and
    the others 0; without weights all are equally short. The score of a street that leads both ways
    in a directed graph is the sum of both arcs. Lines that are no edges have NaN.

    Args:
        edges: what :func:`read_streets` returned.
        columns: values ``[E]``, one for each column of ``edges.edge_index``, by name; columns of
            the same name are replaced.
        weights: what weights were when the values were computed: "lengths", "conductances" (then a
            pair is divided in proportion to them), or None for hops.

    Returns:
        A GeoDataFrame.

    Raises:
        ValueError: there are no streets, or values have another length.

    Example:
        >>> import geopandas, shapely, torchcent
        >>> lines = [shapely.LineString([(0, 0), (3, 4)]), shapely.LineString([(3, 4), (3, 9)])]
        >>> streets = read_streets(geopandas.GeoDataFrame(geometry=lines, crs=32633))
        >>> scores = torchcent.edge_betweenness(streets.graph(edge_weight=True))
        >>> table = street_table(streets, {"betweenness": scores}, weights="lengths")
        >>> table["betweenness"].round(3).tolist()
        [0.667, 0.667]
    """
    if not isinstance(edges, EdgeList) or edges.streets is None:
        raise ValueError("edges has no streets; read_streets(...) returns some")
    if weights is not None:
        check_values.choice(weights, "weights", ("lengths", "conductances"))
    arrays = column_arrays(columns)
    of_line = edges.streets.rows.numpy()
    share = _shares(edges, weights)
    values = {}
    for name, array in arrays.items():
        if len(array) != edges.num_edges:
            raise ValueError(
                f"columns[{name!r}] has {len(array)} values; accepted: {edges.num_edges}"
            )
        column = np.full(len(edges.streets.lines), np.nan)
        column[of_line] = 0.0
        np.add.at(column, of_line, share * array.astype(np.float64))
        values[name] = column
    return edges.streets.lines.assign(**values)


def _shares(edges: EdgeList, weights: str | None) -> np.ndarray:
    """The part of each edge in the score of its pair of vertices."""
    pair = np.unique(edges._pairs(edges.directed), return_inverse=True)[1].reshape(-1)
    part = np.ones(len(pair))
    if weights is not None and edges.edge_weight is not None:
        part = edges.edge_weight.double().numpy()
    if weights == "lengths":
        least = np.full(pair.max(initial=-1) + 1, np.inf)
        np.minimum.at(least, pair, part)
        part = (part == least[pair]).astype(np.float64)
    shares: np.ndarray = part / np.bincount(pair, part)[pair]
    return shares


def write_street_table(path: str, frame: Any) -> None:
    """Writes a GeoDataFrame as .gpkg in its own system, or as .geojson in degrees."""
    suffix = split_suffix(path)[0]
    check_geo(".gpkg", None)  # both through geopandas
    frame = frame.copy()
    for name in frame.columns:
        if name != frame.geometry.name and frame[name].dtype == object:  # lists of osmnx
            text = [None if x is None or x != x else str(x) for x in frame[name]]
            frame[name] = np.array([*text, None], object)[:-1]
    if suffix == ".geojson" and frame.crs is not None:
        frame = frame.to_crs(check_positions.WGS84)
    whole = io.BytesIO()
    driver, more = "GPKG", {}
    if suffix == ".geojson":
        driver, more = "GeoJSON", {"RFC7946": "YES", "COORDINATE_PRECISION": 9}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an unknown system
        frame.to_file(whole, driver=driver, layer="streets", engine="pyogrio", **more)
    with replacing(path) as file:
        file.write(whole.getbuffer())
