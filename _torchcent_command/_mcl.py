"""Options of the subcommand ``mcl``: Markov clustering, with mcl's names where they exist."""

from __future__ import annotations

from _torchcent_command import _common

_MORE = """\
Clusters are written as mcl writes them: a cluster a line, its members between tabs, the largest
first. A file OUT that ends in .csv, .json, .npz or .parquet is a table of vertices and the numbers
of their clusters instead. With --sweep each inflation has a file of its own: clusters.I14.txt is
that of inflation 1.4 for -o clusters.txt.
Weights are similarities: the larger, the closer. Without --directed an edge leads both ways, as in
mcl --abc; of copies of an edge the largest weight counts."""


def add_parsers(add: _common.Add) -> None:
    parser = add("mcl", "Markov clustering, as van Dongen's mcl does it", _MORE)
    _common.graph_options(parser, weights=False)
    group = parser.add_argument_group("weights")
    group.add_argument("--abc", action="store_true", help="the file is mcl's label input")
    group.add_argument("--use-tab", metavar="FILE", help="mcl's dictionary of labels for a matrix")
    group.add_argument("--unweighted", action="store_true", help="ignore the weights")

    group = parser.add_argument_group("clustering")
    rate = group.add_mutually_exclusive_group()
    rate.add_argument(
        "-I", "--inflation", type=float, default=2.0, metavar="R",
        help="granularity, typically 1.2 to 5; larger values give smaller clusters (2)",
    )  # fmt: skip
    rate.add_argument(
        "--sweep",
        type=_common.numbers,
        metavar="R,R,...",
        help="several inflations, with a table of their quality",
    )
    group.add_argument("-e", "--expansion", type=int, default=2, metavar="E", help="(2)")
    loops = group.add_mutually_exclusive_group()
    loops.add_argument(
        "-c", dest="loops", type=float, metavar="C", help="loops are C times the largest weight (1)"
    )
    loops.add_argument(
        "--loops", choices=("max", "one", "own"), help="own: only the loops of the input"
    )
    group.add_argument(
        "--overlap", choices=("cut", "keep", "split"), default="cut",
        help="treatment of vertices in several clusters (cut)",
    )  # fmt: skip
    group.add_argument("--chaos", type=float, default=1e-4, metavar="X", help="stop below (1e-4)")
    group.add_argument("-L", "--max-iter", type=int, default=10000, metavar="N", help="(10000)")

    group = parser.add_argument_group("pruning")
    group.add_argument(
        "-scheme", "--scheme", type=int, metavar="K", help="mcl's resource scheme, 1 to 7 (6)"
    )
    group.add_argument("-P", type=float, metavar="N", help="cut entries below 1/N (10000); 0: none")
    group.add_argument("-S", type=int, metavar="N", help="select N entries (1100); 0: all")
    group.add_argument("-R", type=int, metavar="N", help="recover N entries (1400); 0: none")
    group.add_argument(
        "-pct", "--pct", type=float, metavar="PCT", help="recover columns below PCT percent (90)"
    )
    group.add_argument("--no-pruning", action="store_true", help="keep every entry")

    parser.add_argument("-o", "--out", metavar="OUT", help="file to write (default, and -: print)")
    _common.escape_option(parser)
    parser.add_argument(
        "--plot", metavar="FILE", help="figure of the clusters, or of the sweep: .png .svg .pdf"
    )
    _common.json_option(parser)
    running = _common.run_options(parser, ("auto", "fused", "dense", "tensor"))
    running.add_argument(
        "-te", "--te", dest="threads", type=int, metavar="T", help="same as --threads"
    )
