"""Options of the subcommands that score vertices or edges."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from _torchcent_command import _common


@dataclass(frozen=True)
class Scored:
    """A subcommand that scores a graph; ``torchcent.cli.MEASURES`` has what it computes.

    Attributes:
        help: one line of help.
        options: adds the measure's own options.
        engines: the accepted values of ``--engine``.
    """

    help: str
    options: Callable[[argparse.ArgumentParser], None]
    engines: Sequence[str] = _common.SUM_ENGINES


#: of :func:`torchcent.betweenness_variant`
VARIANTS = ("distance", "linear", "proximal-source", "proximal-target")


def _betweenness_options(parser: argparse.ArgumentParser) -> None:
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--edges", action="store_true", help="score the edges, not the vertices")
    kind.add_argument("--stress", action="store_true", help="count paths: stress centrality")
    kind.add_argument(
        "--variant", choices=VARIANTS,
        help="count a path by its length (distance), by how far along it the vertex is (linear), "
        "or only for the vertex next to its source or target",
    )  # fmt: skip
    _scale_options(parser, ", except for --stress")
    parser.add_argument("--endpoints", action="store_true", help="also count the ends of a path")
    _common.tie_options(parser)
    _cutoff_option(parser)
    _reduce_option(parser)
    _pivot_options(parser)
    parser.add_argument(
        "--approx", type=_common.accuracy, metavar="EPS[,DELTA]",
        help="estimate all scores to within EPS, with probability 1 - DELTA (0.1)",
    )  # fmt: skip
    parser.add_argument(
        "--time-limit", type=float, metavar="SECONDS",
        help="with --approx: return the best estimates after this time",
    )  # fmt: skip


def _scale_options(parser: argparse.ArgumentParser, but: str = "") -> None:
    scale = parser.add_mutually_exclusive_group()
    scale.add_argument(
        "--normalized", action="store_true", default=None,
        help=f"divide by the number of pairs (the default{but})",
    )  # fmt: skip
    scale.add_argument("--raw", dest="normalized", action="store_false", help="do not divide")


def _current_flow_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--edges", action="store_true", help="score the edges, not the vertices")
    _scale_options(parser)


def _reduce_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--reduce", type=_reductions, default="auto", metavar="HOW",
        help="exact reductions before the search: auto (those that pay), none, or some of "
        "fold,blocks,twins,chains",
    )  # fmt: skip


def _reductions(text: str) -> str | list[str]:
    return text if text in ("auto", "none") else text.split(",")


def _lengths(text: str) -> float | list[float]:
    """Parses ``2`` or ``2,3,4``."""
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not LENGTH or LENGTH,LENGTH") from None
    return found if len(found) > 1 else found[0]


def _closeness_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--classic", action="store_true",
        help="1 / mean distance, without Wasserman and Faust's factor for disconnected graphs",
    )  # fmt: skip
    _cutoff_option(parser)
    _outgoing_option(parser)
    _pivot_options(parser)


def _harmonic_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--normalized", action="store_true", help="divide by n - 1")
    _cutoff_option(parser)
    _outgoing_option(parser)
    _pivot_options(parser)


def _eccentricity_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--component", action="store_true",
        help="only over reachable vertices (otherwise inf if some are unreachable)",
    )  # fmt: skip
    parser.add_argument(
        "--incoming", action="store_true", help="distances to the vertex, not from it"
    )


def _percolation_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--states", metavar="FILE", required=True,
        help="one vertex and its state, a number >= 0, per line; other vertices have 0",
    )  # fmt: skip
    _reduce_option(parser)


def _cutoff_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cutoff", type=_lengths, metavar="LENGTH[,...]",
        help="count only pairs at most so far apart; with several, scores for each",
    )  # fmt: skip


def _outgoing_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--outgoing", action="store_true", help="distances from the vertex, not to it"
    )


def _pivot_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sources", type=int, metavar="K", help="estimate from K random pivots instead of all"
    )
    _common.seed_option(parser)


def _pagerank_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--alpha", type=float, default=0.85, metavar="A",
        help="probability of following an arc (0.85)",
    )  # fmt: skip


def _no_options(parser: argparse.ArgumentParser) -> None:
    """Measures that have only the common options."""


_ONLY_ENGINE = ("auto",)

SCORED = {
    "betweenness": Scored(
        "shortest paths through each vertex or edge", _betweenness_options, _common.PATH_ENGINES,
    ),
    "percolation": Scored(
        "percolation through each vertex, given a state of each vertex", _percolation_options,
        _common.PATH_ENGINES,
    ),
    "closeness": Scored(
        "reciprocal of the mean distance to each vertex", _closeness_options
    ),
    "harmonic": Scored(
        "sum of the reciprocal distances to each vertex", _harmonic_options
    ),
    "eccentricity": Scored(
        "distance from each vertex to the farthest one, the smallest first", _eccentricity_options
    ),
    "pagerank": Scored(
        "share of a random walk's time at each vertex", _pagerank_options, _ONLY_ENGINE
    ),
    "degree": Scored(
        "number of arcs out of each vertex, or the sum of their weights", _no_options, _ONLY_ENGINE
    ),
    "eigenvector": Scored("eigenvector centrality", _no_options, _ONLY_ENGINE),
    "core": Scored("core number of each vertex", _no_options, _ONLY_ENGINE),
    "clustering": Scored(
        "share of the pairs of neighbours of each vertex that are adjacent", _no_options,
        _ONLY_ENGINE,
    ),
    "current-flow-betweenness": Scored(
        "electric current through each vertex or edge, over all pairs; --weights are conductances",
        _current_flow_options, _ONLY_ENGINE,
    ),
    "current-flow-closeness": Scored(
        "reciprocal of the sum of effective resistances; --weights are conductances",
        _no_options, _ONLY_ENGINE,
    ),
}  # fmt: skip


def add_parsers(add: _common.Add) -> None:
    """Adds a subcommand for each measure."""
    for name, measure in SCORED.items():
        parser = add(name, measure.help)
        _common.graph_options(parser)
        measure.options(parser)
        _common.out_option(parser, "the scores", _common.TABLES)
        _common.escape_option(parser)
        parser.add_argument(
            "--plot", metavar="FILE",
            help="write a figure: .png .svg .pdf; with coordinates, a map coloured by the scores",
        )  # fmt: skip
        _common.top_option(parser)
        _common.json_option(parser)
        running = _common.run_options(parser, measure.engines)
        running.add_argument(
            "--dtype", choices=("float32", "float64"), default="float64",
            help="type of the scores (float64)",
        )  # fmt: skip
        _common.checkpoint_option(running)
