"""Options that subcommands share: the graph, its weights, the run, the output."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence

#: creates the parser of a subcommand from its name, its help, and text to show after the examples;
#: `fill` adds its options, when they are needed
Add = Callable[..., argparse.ArgumentParser]

#: names for --format; each also by its suffix (torchcent.io.FORMATS)
FORMATS = (
    "edges", "abc", "mci", "mtx", "metis", "gr", "graphml", "gml", "npz", "npy", "pt", "parquet",
    "gpkg", "shp", "geojson", "blast",
)  # fmt: skip
#: formats that are written (torchcent.io.write), as suffixes
WRITTEN = (
    "txt", "tsv", "csv", "edges", "el", "abc", "mci", "mtx", "graph", "gr", "npz", "npy",
    "pt", "parquet", "graphml", "gexf", "cx2", "sif",
)  # fmt: skip
#: formats of tables of scores (torchcent.io.write_scores)
TABLES = ("csv", "tsv", "json", "npy", "npz", "parquet", "geojson", "gpkg")
#: graph files with the scores or clusters as columns
GRAPHS = ("graphml", "gexf", "cx2", "sif")
#: those of tables whose rows are no vertices or edges
PLAIN_TABLES = ("csv", "tsv", "json", "npz", "parquet")
SIMILARITIES = ("inverse", "log")
DISTANCE_ENGINES = ("auto", "bits", "queue", "hierarchy", "tensor", "relax", "dijkstra")


def graph_options(
    parser: argparse.ArgumentParser, weights: str = "lengths"
) -> argparse._ArgumentGroup:
    """Adds options for the graph and its format, and for what weights are, unless that is ""."""
    parser.add_argument(
        "graph", metavar="GRAPH", help="a graph file, networkx:NAME, or - for standard input"
    )
    group = parser.add_argument_group("reading")
    side = group.add_mutually_exclusive_group()
    side.add_argument(
        "--directed", action="store_true", default=None,
        help="a line 'a b' leads from a to b only (default: as the file says, else undirected)",
    )  # fmt: skip
    side.add_argument("--undirected", dest="directed", action="store_false", help="both ways")
    group.add_argument("--format", help=f"overrides the suffix: {', '.join(FORMATS)}")
    group.add_argument("--num-nodes", type=int, metavar="N", help="including isolated vertices")
    group.add_argument("--skip", type=int, default=0, metavar="L", help="skip L lines at the top")
    group.add_argument(
        "--text-labels", action=argparse.BooleanOptionalAction, default=None,
        help="ids are names, even if they look like numbers (default: where one begins with zeros)",
    )  # fmt: skip
    group.add_argument(
        "--header", action=argparse.BooleanOptionalAction, default=None,
        help="the first row has the names of the columns (default: if it looks like it)",
    )  # fmt: skip
    group.add_argument(
        "--comments", type=_comments, default="#%", metavar="MARKS",
        help="characters that begin comments: '#%%' (default), '#', '%%', or none",
    )  # fmt: skip
    for column, what in (
        ("source", "the first end of an edge"),
        ("target", "the second end"),
        ("weight", "weights"),
    ):
        group.add_argument(
            f"--{column}-column", type=_column, metavar="C",
            help=f"the column of an edge list with {what}: its name in the header, or its number "
            "from 1",
        )  # fmt: skip
    group.add_argument(
        "--coordinates", metavar="FILE",
        help="positions of the vertices: DIMACS .co, or a table with columns for the id and x, y "
        "or lon, lat (default: NAME.co beside NAME.gr, attributes in .graphml and .gml)",
    )  # fmt: skip
    group.add_argument(
        "--crs", metavar="SYSTEM",
        help="their coordinate system, such as EPSG:4326 (degrees; the default for lon, lat)",
    )  # fmt: skip
    group.add_argument(
        "--labels", metavar="NAME",
        help="of .graphml and .gml, the attribute of the nodes with their names, or id (default: "
        "name or label, if every node has one of its own)",
    )  # fmt: skip
    group.add_argument(
        "--layer", metavar="NAME", help="of .gpkg, the layer with the streets (default: of lines)"
    )
    group.add_argument(
        "--oneway", metavar="C",
        help="of .gpkg, .shp and .geojson, the column with the directions of streets, as in OSM",
    )  # fmt: skip
    group.add_argument(
        "--tolerance", type=float, metavar="D",
        help="... ends of lines that are at most so far apart are one place (0)",
    )  # fmt: skip
    if weights:
        _weight_options(parser, weights)
    else:
        parser.set_defaults(weights=False, similarity=None)
    return group


def _weight_options(parser: argparse.ArgumentParser, weights: str) -> None:
    """Adds options for the interpretation of the third column."""
    how = "distances, finite and > 0" if weights == "lengths" else f"{weights}, finite and >= 0"
    group = parser.add_argument_group("weights")
    group.add_argument(
        "--weights", action=argparse.BooleanOptionalAction, default=None,
        help=f"use them as {how} (default: they do not count, with a message)",
    )  # fmt: skip
    group.add_argument(
        "--similarity", choices=SIMILARITIES,
        help="use them as similarities: the distance is 1/s (inverse) or -ln s (log, for "
        "probabilities)",
    )  # fmt: skip


def run_options(
    parser: argparse.ArgumentParser, engines: Sequence[str] = ()
) -> argparse._ArgumentGroup:
    """Adds options for the run; with `--engine` if there are several engines."""
    quiet_option(parser)
    group = parser.add_argument_group("running")
    if engines:
        group.add_argument(
            "--engine", choices=engines, default="auto",
            help="default: auto, the fastest"
            + ("; relax and dijkstra are for weights" if "relax" in engines else ""),
        )  # fmt: skip
    group.add_argument(
        "--device", default="cpu", metavar="DEVICE",
        help="cpu (the default, even where there is a GPU), cuda, cuda:N, or all: every GPU",
    )  # fmt: skip
    group.add_argument("--threads", type=int, metavar="T", help="of the CPU (default: all cores)")
    memory_option(group)
    return group


def checkpoint_option(group: argparse._ArgumentGroup, limited: bool = True) -> None:
    """Adds the option for runs that can be continued, and end after some time if `limited`."""
    group.add_argument(
        "--checkpoint", metavar="FOLDER",
        help="keep what is finished there: after an interruption, the same command or "
        "'torchcent resume FOLDER' continues",
    )  # fmt: skip
    if limited:
        time_limit_option(group)


def time_limit_option(parser: argparse._ActionsContainer) -> None:
    """Adds the option that ends a run with a checkpoint after some time."""
    parser.add_argument(
        "--time-limit", dest="stop_after", type=_duration, metavar="TIME",
        help="end after so long, with status 124 and what is finished in --checkpoint: seconds, "
        "90m, 11.5h, 2d, or H:M:S",
    )  # fmt: skip


def memory_option(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--memory", type=_size, metavar="SIZE",
        help="memory limit for reading and for the run, such as 4G (default: half of free)",
    )  # fmt: skip


def escape_option(parser: argparse.ArgumentParser) -> None:
    """Adds the option for files of scores."""
    parser.add_argument(
        "--escape-formulas", action="store_true",
        help="in .csv and .tsv, put an apostrophe before names that a spreadsheet would read as "
        "formulas (=, +, -, @, ...); by default, names are written unchanged",
    )  # fmt: skip


def seed_option(parser: argparse.ArgumentParser, what: str = "--sources K") -> None:
    parser.add_argument("--seed", type=int, default=0, metavar="S", help=f"for {what} (0)")


def tie_options(parser: argparse.ArgumentParser) -> None:
    """Adds options for paths of equal lengths."""
    parser.add_argument(
        "--tie-tolerance", type=float, default=0.0, metavar="T",
        help="with weights: relative tolerance within which paths count as shortest (0)",
    )  # fmt: skip
    parser.add_argument(
        "--ties", choices=("decimal", "float"), default="decimal",
        help="decimal weights are the numbers as written (the default), or the float64 numbers "
        "next to them, as in NetworkX",
    )  # fmt: skip


def accuracy(text: str) -> tuple[float, float]:
    """Parses ``0.01`` or ``0.01,0.1``."""
    epsilon, _, delta = text.partition(",")
    try:
        return float(epsilon), float(delta or 0.1)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not EPS or EPS,DELTA") from None


def vertices(text: str) -> int | str:
    """A number of vertices, or a file of their names."""
    return int(text) if text.isdecimal() and not os.path.exists(text) else text


def _comments(text: str) -> str | None:
    return None if text == "none" else text


def _column(text: str) -> int | str:
    """A column by its number or name; names of a header are never numbers."""
    return int(text) if text.isdecimal() else text


def _size(text: str) -> int:
    """Parses ``500M``, ``4G``, ... as bytes."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].isalpha() else (text, "")
    try:
        return int(float(number) * (units[unit] if unit else 1))
    except (ValueError, KeyError, OverflowError):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 500M or 4G") from None


def _duration(text: str) -> float:
    """Parses ``90``, ``90m``, ``11.5h``, ``11:30:00``, ... as seconds."""
    units = {"s": 1, "m": 60, "h": 3600, "d": 86400}
    try:
        if ":" in text:
            parts = [int(part) for part in text.split(":")]
            if len(parts) > 3 or min(parts) < 0:
                raise ValueError
            seconds = float(sum(part * 60**at for at, part in enumerate(reversed(parts))))
        else:
            number, unit = (text[:-1], text[-1]) if text[-1:] in units else (text, "s")
            seconds = float(number) * units[unit]
        if not 0 < seconds < 1e9:
            raise ValueError
        return seconds
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time such as 600, 90m, 11.5h or 11:30:00"
        ) from None


def quiet_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no messages")


def json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json", action="store_true",
        help="print the result as one JSON object instead of text; its keys are stable",
    )  # fmt: skip


def top_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--top", type=int, default=20, metavar="N", help="rows to print (20)")


def out_option(
    parser: argparse.ArgumentParser, what: str, formats: Sequence[str], *, required: bool = False
) -> None:
    """Adds ``-o``, and ``--to`` where there are several formats."""
    suffixes = " ".join(f".{name}" for name in formats)
    parser.add_argument(
        "-o", "--out", required=required, metavar="OUT",
        help=f"write {what}: {suffixes}; - is standard output, in place of other results",
    )  # fmt: skip
    if len(formats) > 1:
        to_option(parser, formats)


def to_option(parser: argparse.ArgumentParser, formats: Sequence[str]) -> None:
    parser.add_argument(
        "--to", choices=formats, help=f"the format on standard output ({formats[0]})"
    )


def numbers(text: str) -> list[float]:
    """Parses ``2`` or ``1.4,2,4,6``."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number or list such as 1.4,2") from None


def names(text: str) -> list[str]:
    """Parses ``betweenness,degree``."""
    return text.split(",")
