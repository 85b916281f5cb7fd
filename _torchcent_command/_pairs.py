"""Options of the subcommands about pairs of vertices: ``diameter``, ``apsp``, ``closure``."""

from __future__ import annotations

from _torchcent_command import _common

_DTYPES = ("auto", "int8", "int16", "int32", "float32", "float64")

_MATRIX = """\
dist.npy is a matrix for numpy.load(..., mmap_mode="r"): row i has the distances from the i-th
source to every vertex, -1 where there is no path (inf for floating-point types). Vertices are
in the order of the tables that other commands write with -o. With --sources K, the names of the
rows are printed."""

_CLOSURE = """\
A .npy is a bool matrix, true at [u, v] where u reaches v. A .npz is packed: component (int32 [n],
of every vertex), loop (bool [n], whether a vertex reaches itself) and bits, with one row and one
column per component:
  file = numpy.load("calls.npz")
  part, count = file["component"], len(file["bits"])
  dense = numpy.unpackbits(file["bits"], axis=1, count=count).view(bool)[part][:, part]
  numpy.fill_diagonal(dense, file["loop"])"""


def add_parsers(add: _common.Add) -> None:
    parser = add("diameter", "diameter, radius, centre and periphery of a graph")
    _common.graph_options(parser)
    parser.add_argument(
        "--component", action="store_true",
        help="ignore pairs without a path (otherwise one such pair makes the diameter inf)",
    )  # fmt: skip
    parser.add_argument("--average", action="store_true", help="also print the mean distance")
    parser.add_argument(
        "--effective", type=float, metavar="Q",
        help="the distance within which a share Q of the connected pairs lies, such as 0.9",
    )  # fmt: skip
    _common.json_option(parser)
    _common.checkpoint_option(_common.run_options(parser, _common.DISTANCE_ENGINES))

    parser = add("apsp", "distances from all vertices, or some, to all others, in a file", _MATRIX)
    _common.graph_options(parser)
    parser.add_argument(
        "-o", "--out", required=True, metavar="OUT",
        help="write the matrix: .npy or .zarr; - is standard output, in place of other results",
    )  # fmt: skip
    parser.add_argument(
        "--sources", type=_common.vertices, metavar="FILE|K",
        help="only rows of these vertices, one name per line, or of K random vertices",
    )  # fmt: skip
    _common.seed_option(parser)
    parser.add_argument(
        "--dtype", choices=_DTYPES, default="auto",
        help="type of the distances (the narrowest that fits; floats with weights only)",
    )  # fmt: skip
    _common.json_option(parser)
    _common.checkpoint_option(_common.run_options(parser, _common.DISTANCE_ENGINES))

    parser = add("closure", "transitive closure: who reaches whom", _CLOSURE)
    _common.graph_options(parser)
    _common.out_option(parser, "the relation, packed or n^2 bytes", ("npz", "npy"))
    parser.add_argument(
        "--loops", choices=("cycles", "all", "none"), default="cycles",
        help="which vertices reach themselves: those on a cycle of a directed graph (the default)",
    )  # fmt: skip
    _common.json_option(parser)
    _common.checkpoint_option(_common.run_options(parser))
