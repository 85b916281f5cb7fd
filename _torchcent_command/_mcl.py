"""Options of the subcommand ``mcl``: Markov clustering, with mcl's names where they exist."""

from __future__ import annotations

import argparse
from typing import Any

from _torchcent_command import _common

_MORE = """\
Clusters are written as mcl writes them: a cluster a line, its members between tabs, the largest
first; of a native matrix (.mci) without --use-tab a native matrix of clusters, which mcxdump, clm
info and clm dist read. A file OUT that ends in .csv, .tsv, .json, .npz or .parquet is a table of
vertices and the numbers of their clusters instead, one that ends in .mci a native matrix, one in
.graphml, .gexf, .cx2 or .sif the graph with these numbers. Other known suffixes are refused. With
--sweep each inflation has a file of its own: clusters.I14.txt is that of inflation 1.4 for
-o clusters.txt. Without -o, --abc, --use-tab and native matrices write the file that mcl does:
out.GRAPH.I20 for inflation 2; of other graphs, clusters are printed.
Weights are similarities: the larger, the closer. Without --directed an edge leads both ways, as in
mcl --abc; of copies of an edge the largest weight counts."""


def add_parsers(add: _common.Add) -> None:
    add("mcl", "Markov clustering, as van Dongen's mcl does it", _MORE, fill=_options)


def _options(parser: argparse.ArgumentParser) -> None:
    _common.graph_options(parser, "")
    group = parser.add_argument_group("weights")
    group.add_argument("--abc", action="store_true", help="the file is mcl's label input")
    group.add_argument(
        "--blast", action="store_true",
        help="the file is a table of BLAST (-outfmt 6 or 7, -m 8), DIAMOND or MMseqs2: weights are "
        "-log10 of the E-values, at most 200, and the largest of a pair",
    )  # fmt: skip
    group.add_argument(
        "--use-tab", "-use-tab", metavar="FILE", help="mcl's dictionary of labels for a matrix"
    )
    group.add_argument("--unweighted", action="store_true", help="ignore the weights")
    _transforms(group)

    group = parser.add_argument_group("clustering")
    rate = group.add_mutually_exclusive_group()
    rate.add_argument(
        "-I", "--inflation", type=float, default=2.0, metavar="R",
        help="granularity, typically 1.2 to 5; larger values give smaller clusters (2)",
    )  # fmt: skip
    rate.add_argument(
        "--sweep", type=_common.numbers, metavar="R,R,...",
        help="several inflations, with a table of their quality",
    )  # fmt: skip
    group.add_argument("-e", "--expansion", type=int, default=2, metavar="E", help="(2)")
    loops = group.add_mutually_exclusive_group()
    loops.add_argument(
        "-c", dest="loops", type=float, metavar="C", help="loops are C times the largest weight (1)"
    )
    group.add_argument(
        "-discard-loops", "--discard-loops", choices=("y", "n"), default="y",
        help="n: only the loops of the input, as --loops own (y)",
    )  # fmt: skip
    group.add_argument(
        "-pi", type=float, metavar="R", help="inflate the graph before the first iteration"
    )
    group.add_argument(
        "-icl", metavar="FILE", help="cluster within the clusters of this file: cut all other edges"
    )
    group.add_argument(
        "-force-connected", "--force-connected", choices=("y", "n"), default="n",
        help="y: split clusters that are not connected in the graph (n)",
    )  # fmt: skip
    loops.add_argument(
        "--loops", choices=("max", "one", "own"), help="own: only the loops of the input"
    )
    group.add_argument(
        "--overlap", "-overlap", choices=("cut", "keep", "split"), default="cut",
        help="treatment of vertices in several clusters (cut)",
    )  # fmt: skip
    group.add_argument("--chaos", type=float, default=1e-4, metavar="X", help="stop below (1e-4)")
    group.add_argument("-L", "--max-iter", type=int, default=10000, metavar="N", help="(10000)")

    group = parser.add_argument_group("pruning")
    group.add_argument(
        "-scheme", "--scheme", type=int, metavar="K", help="mcl's resource scheme, 1 to 7 (6)"
    )
    group.add_argument(
        "-resource", type=int, metavar="N", help="same as -S N -R N, and -P 10N without -scheme"
    )
    cut = group.add_mutually_exclusive_group()
    cut.add_argument("-P", type=float, metavar="N", help="cut entries below 1/N (10000); 0: none")
    cut.add_argument("-p", type=float, metavar="X", help="cut entries below X; 0: none")
    group.add_argument("-S", type=int, metavar="N", help="select N entries (1100); 0: all")
    group.add_argument("-R", type=int, metavar="N", help="recover N entries (1400); 0: none")
    group.add_argument(
        "-pct", "--pct", type=float, metavar="PCT", help="recover columns below PCT percent (90)"
    )
    group.add_argument("--no-pruning", action="store_true", help="keep every entry")

    parser.add_argument("-o", "--out", metavar="OUT", help="file to write; -: print")
    parser.add_argument(
        "--with", dest="beside_cluster", type=_common.names, default=[], metavar="NAME,...",
        help="also write scores of the vertices, by hops, into a table or graph file OUT, such as "
        "betweenness,degree: the names of node-features --measures",
    )  # fmt: skip
    group = parser.add_argument_group("names of files, as in mcl")
    group.add_argument("-odir", metavar="FOLDER", help="folder of the file that mcl would name")
    group.add_argument("--d", dest="beside", action="store_true", help="... the folder of GRAPH")
    group.add_argument("-ap", metavar="TEXT", help="it begins with TEXT, where = is GRAPH")
    group.add_argument("-aa", default="", metavar="TEXT", help="it ends with TEXT")
    group.add_argument("--i3", action="store_true", help="three digits of the inflation")
    group.add_argument("-az", action="store_true", help="print the name of the file and exit")
    group.add_argument("-ax", action="store_true", help="print its suffix and exit")
    group.add_argument("-write-graph", metavar="FILE", help="write the graph as a native matrix")
    parser.add_argument(
        "-sort", choices=("revsize", "size", "lex"), default="revsize",
        help="order of clusters: by decreasing size, increasing size, or members (revsize)",
    )  # fmt: skip
    _common.escape_option(parser)
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="figure of the clusters, or of the sweep: .png .svg .pdf; as .html, the network "
        "coloured by cluster, to zoom and search",
    )
    _common.json_option(parser)
    running = _common.run_options(parser, ("auto", "fused", "dense", "tensor"))
    running.add_argument(
        "-te", "--te", dest="threads", type=int, metavar="T", help="same as --threads"
    )
    _ignored(parser)


def _transforms(group: argparse._ArgumentGroup) -> None:
    """The values of lines and of the graph; mcl and mcxload name the same options differently."""
    for text, base in (("neg-log10", 10.0), ("neg-log", 0.0)):
        group.add_argument(
            *(f"{dash}{what}-{text}" for what in ("abc", "stream") for dash in ("--", "-")),
            dest="neg_log", action="store_const", const=base,
            help="weights are " + ("-log10" if base else "-ln") + " of the values, as of E-values",
        )  # fmt: skip
    group.add_argument(
        "-abc-tf", "--abc-tf", "-stream-tf", "--stream-tf", dest="stream_tf", metavar="SPEC",
        help="transform the value of each line, then: ceil(200) caps them at 200",
    )  # fmt: skip
    group.add_argument(
        "-tf", "--tf", metavar="SPEC",
        help="transform the graph: gq(0.7),add(-0.7) or #knn(50); docs/clustering.md has the list",
    )  # fmt: skip
    group.add_argument(
        "--stream-mirror", "-stream-mirror", action="store_true",
        help="an edge leads both ways: the default of label input",
    )  # fmt: skip


class _Ignore(argparse.Action):
    """Takes an option of mcl that does not change the clusters, and notes its name.

    ``-q x`` is ``--quiet``; -q has other values, which set what mcl logs.
    """

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any,
        option: str | None = None,
    ) -> None:  # fmt: skip
        if option == "-q" and values == "x":
            namespace.quiet = True
        else:
            namespace.ignored = [*namespace.ignored, option]


class _Refuse(argparse.Action):
    """An option of mcl that is not supported, and what to do instead."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any,
        option: str | None = None,
    ) -> None:  # fmt: skip
        parser.error(f"{option} of mcl is not supported: {self.const}")


#: options of mcl without effect here: those with a value, and those without
_IGNORED = (
    "-V", "-v", "-annot", "-digits", "-sparse", "-warn-pct", "-warn-factor", "-analyze",
    "--analyze", "-show-log", "--show-log", "-check-connected", "--check-connected",
)  # fmt: skip
_IGNORED_FLAGS = ("--show", "--write-binary")
_REFUSED = {
    "mcxload reads this format: mcxload ... -o graph.mci": ("--sif", "--etc", "--expect-values"),
    "--sweep shares the first expansion": ("-write-expanded", "-if"),
    "torchcent.mcl(return_flow=True) returns the last flow": ("--write-limit",),
    "it shows the iterations": ("-dump", "-dump-stem", "-dump-interval", "-dump-modulo"),
    "-write-graph writes the graph before its transformation": ("-write-graphx",),
}


def _ignored(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(ignored=[])
    hidden: dict[str, Any] = {"help": argparse.SUPPRESS, "dest": "ignored"}
    parser.add_argument("-q", metavar="X", action=_Ignore, help="x: same as --quiet", dest="log")
    parser.add_argument(*_IGNORED, action=_Ignore, **hidden)
    parser.add_argument(*_IGNORED_FLAGS, nargs=0, action=_Ignore, **hidden)
    for advice, names in _REFUSED.items():
        parser.add_argument(*names, nargs="?", const=advice, action=_Refuse, **hidden)
