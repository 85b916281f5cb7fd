"""For each table and figure of the five papers: the workload here, and whether it is the same."""

from __future__ import annotations

from typing import NamedTuple

from counterpart_figures import (
    Ours,
    adaptive,
    all_pairs,
    as_the_paper,
    at_once,
    best_over_plain,
    call,
    clustered,
    doubled,
    over_edges,
    over_one_thread,
    panels,
    proteins,
    range_over_one_thread,
    strategies,
    traversals,
    warps,
)

SAME, MODEL, COPY, STAND_IN, NONE = "the same", "same model", "another copy", "stand-in", "none"


class Counterpart(NamedTuple):
    table: str
    row: str
    graph: str
    kind: str
    fair: str
    ours: Ours | None = None
    speedup: Ours | None = None


NO_PROGRAM = "no: no sequential program was timed beside it"
BA = "BA n=30000 b=50"
GPU_FAN = [
    Counterpart("Table 1, Figure 1", "formulas, pseudo-code", "", NONE, "no figures"),
    *(
        Counterpart(
            "Table 2", measure, BA, MODEL, fair, call(BA, measure), over_one_thread(BA, measure)
        )
        for measure, fair in (
            ("betweenness", "yes, another graph of the model"),
            ("closeness", "yes, the same values on a connected graph"),
            ("eccentricity", "yes, but for the reciprocal of each value"),
            ("stress", "yes, another graph of the model"),
        )
    ),
    Counterpart(
        "Figure 2", "betweenness", "25 networks of the sizes there", MODEL,
        "no: beside a strategy like that of Jia et al.; gpu-fan's search on all blocks is not here",
        over_edges,
    ),
    Counterpart(
        "Figures 3a, 3b", "four measures", "the next table", MODEL, NO_PROGRAM, None,
        range_over_one_thread,
    ),
    Counterpart(
        "Figure 3c", "four measures", "hprd-release9", STAND_IN, "no: another network",
        call("hprd-release9", "betweenness"), over_one_thread("hprd-release9", "betweenness"),
    ),
    Counterpart(
        "Figure 3d", "four measures", "breast-coexpress", SAME, NO_PROGRAM,
        call("breast-coexpress", "betweenness"),
        over_one_thread("breast-coexpress", "betweenness"),
    ),
]  # fmt: skip
PROBABILITIES = "yes, if its probabilities, not printed, are Graph500's"
SRIRAM = [
    *(
        Counterpart(
            "Table 1, Figure 2", f"scale {scale}", f"R-MAT scale {scale} ef 8", MODEL,
            PROBABILITIES, call(f"R-MAT scale {scale} ef 8", "betweenness"),
            over_one_thread(f"R-MAT scale {scale} ef 8", "betweenness"),
        )
        for scale in (12, 14, 16, 18, 19)
    ),
    Counterpart(
        "Table 1, Figure 2", "ND-Web", "web-NotreDame", SAME, "yes, undirected as there",
        call("web-NotreDame", "betweenness"), over_one_thread("web-NotreDame", "betweenness"),
    ),
    Counterpart(
        "Figure 3", "speedup by multiprocessors", "web-NotreDame", SAME,
        "yes, by 132 searches, so many at once, a block each; of 8, 16 and 32 the last round is "
        "not full, which alone costs 3, 8 and 18 %; the paper has a curve", at_once,
    ),
    Counterpart(
        "Section 5.3", "adaptive sampling", "five graphs", STAND_IN,
        "no: the paper has no figures", adaptive,
    ),
    Counterpart(
        "Section 6.1", "ND-Web", "", NONE, "no: the CPU engines have other algorithms"
    ),
]  # fmt: skip
OWN = "no: a stand-in of as many vertices"
FAN_GRAPHS = {
    "bio-human-gene1": ("", NONE, "no: the network is not at hand; gene2 is of its kind"),
    "bio-human-gene2": ("BA", STAND_IN, OWN),
    "bio-mouse-gene": ("", NONE, "no: the network is not at hand; gene2 is of its kind"),
    "ca-MathSciNet-dir": ("BA", STAND_IN, OWN),
    "actors": ("actor-imdb", COPY, "nearly, per source: a copy with some more vertices"),
    "rt-higgs": ("random", STAND_IN, OWN),
    "mt-higgs": ("higgs-mention", SAME, "yes, per source"),
    "rec-amazon": ("rec-amazon", SAME, "yes, per source; weights from 1 to 10 drawn here"),
    "sc-shipsec1": ("points in a cube", STAND_IN, OWN),
    "soc-pokec, kron_g500": ("", NONE, "no: days there; the text does not say of which graph each"),
}
FAN = [
    Counterpart("Table 1, Figures 1, 2", "sizes, illustrations", "", NONE, "no figures"),
    *(
        Counterpart(
            "Table 2", name, graph, kind, fair, None if kind == NONE else strategies(name),
        )
        for name, (graph, kind, fair) in FAN_GRAPHS.items()
    ),
    Counterpart(
        "Text", "best over 4 threads", "", NONE, "no: graph-tool was not run", None,
    ),
    Counterpart(
        "Text", "best over NP", "seven networks of Table 2", STAND_IN,
        "no: four are stand-ins; with locks those of high degree gain nothing, see performance.md",
        best_over_plain,
    ),
    *(
        Counterpart(
            "Table 3", name, "as in Table 2", STAND_IN,
            "mt-higgs yes, ER and Kronecker of the model, rt-higgs a stand-in; per source",
            warps(name),
        )
        for name in (
            "NP", "NP+warp4", "NP+warp8", "NP+warp16", "NP+warp32",
            "WE", "WE+warp4", "WE+warp8", "WE+warp16", "WE+warp32",
        )
    ),
    Counterpart(
        "Figure 3", "times by size and degree", "Erdos-Renyi and R-MAT", MODEL,
        "yes, of the same sizes; the paper has curves", panels,
    ),
]  # fmt: skip
UNLIKE = "no: symmetric matrices with other loops; the paper has ratios on its own CPUs"
AS_THERE = "yes, drawn as the paper describes; the paper has ratios on its own CPUs"
MCL = [
    Counterpart("Tables 1, 5", "cards, machines", "", NONE, "no figures"),
    *(
        Counterpart(
            f"Table {number}", f"{kind}{i}", f"{here}{n}", STAND_IN, UNLIKE,
            clustered(f"{kind}{more}, n = {n}", f"{here}{n}", "torchcent, whole, as the paper"),
        )
        for number, kind, here, more in (
            (2, "RFULL", "full", ""), (3, "RSPARS", "sparse", " (30 %)"),
        )
        for i, n in enumerate((1600, 3200, 4800), 1)
    ),
    *(
        Counterpart(f"Table {number}", f"{kind}{i}", f"{kind}{i}", MODEL, AS_THERE,
                    as_the_paper(f"{kind}{i}"))
        for number, kind in ((2, "RFULL"), (3, "RSPARS"))
        for i in (1, 2, 3)
    ),
    Counterpart("Figure 1", "RFULL3, SC-9800GTX", "", NONE, "no: one kernel here, Table 2's row"),
    Counterpart("Figure 2", "RFULL", "", NONE, "no: ratios; seconds are in Table 2's rows"),
    Counterpart("Figure 2", "RSPARS", "", NONE, "no: ratios; seconds are in Table 3's rows"),
    Counterpart(
        "Table 4", "PPI1", "yeast-biogrid", STAND_IN,
        "no: another release; pruned on the CPU and by `mcl`", proteins("yeast-biogrid"),
    ),
    Counterpart(
        "Table 4", "PPI2", "hprd-release9", STAND_IN,
        "no: another release; pruned on the CPU and by `mcl`", proteins("hprd-release9"),
    ),
    Counterpart(
        "Table 4", "PPI3", "planted14", STAND_IN,
        "no: planted clusters, pruned; weights on the CPU",
        clustered("20,000 proteins, degree 14", "planted14", "torchcent, whole"),
    ),
    Counterpart(
        "Table 4", "PPI3", "planted, of PPI3's size", STAND_IN,
        "no: planted clusters, not pruned on the H200", as_the_paper("planted, of PPI3's size"),
    ),
    *(
        Counterpart("Figure 3", name, "", NONE, "no: a ratio; seconds are in Table 4's row")
        for name in ("PPI1", "PPI2", "PPI3")
    ),
    Counterpart("Section 5.2", "PPI3", "", NONE, "no: another network; Table 4's row"),
]  # fmt: skip
HERE = {
    "delaunay_n21": ("delaunay_n21", MODEL, "yes"),
    "ecology1": (
        "ecology1 (grid 1000x1000)", SAME, "yes, the same pattern",
    ),
    "kron_g500-logn19": (
        "kron_g500-logn19 (R-MAT scale 19 ef 48)", MODEL, "yes",
    ),
    "rgg_n_2_21_s0": ("rgg_n_2_21_s0", MODEL, "yes"),
    "roadNet-CA": (
        "roadNet-CA (road-like 1400x1400)", STAND_IN,
        "no: generated, of nearly its size",
    ),
}  # fmt: skip
HERE |= {
    name: (f"{name} ({graph})", STAND_IN, f"no: {what} of its size")
    for name, graph, what in (
        ("auto", "points in a cube", "a mesh"),
        ("ldoor", "points in a cube", "a mesh"),
        ("as-Skitter", "hubs", "a network with hubs"),
        ("adaptive", "grid 2611x2611", "a grid"),
        ("thermal2", "Delaunay", "a mesh"),
        ("hollywood-2009", "hubs", "a network with hubs"),
        ("333SP", "Delaunay", "a mesh"),
    )
}
NAMES = [
    "333SP", "adaptive", "as-Skitter", "auto", "delaunay_n21", "ecology1", "hollywood-2009",
    "kron_g500-logn19", "ldoor", "roadNet-CA", "rgg_n_2_21_s0", "thermal2",
]  # fmt: skip
MULTI_SEARCH = [
    Counterpart("Figure 1", "illustration", "", NONE, "no figures"),
    *(
        Counterpart("Tables I to III", name, *HERE[name], all_pairs(HERE[name][0]))
        for name in NAMES
    ),
    Counterpart("Table IV", "mean", "", NONE, "no: only hybrid_BC was run, see below"),
    Counterpart(
        "Section II", "Delaunay mesh", "Delaunay 2^16", MODEL, "yes, in blocks of rows",
        call("Delaunay 2^16, all pairs", "shortest_path_lengths"),
    ),
    Counterpart(
        "Section II", "Kronecker graph", "R-MAT scale 16 ef 48", MODEL,
        "yes, in blocks of rows, if its edge factor is that of Table I",
        call("R-MAT scale 16 ef 48, all pairs", "shortest_path_lengths"),
    ),
    Counterpart(
        "Figure 2", "Erdős-Rényi", "Erdos-Renyi", MODEL,
        "yes, of 2^13 to 2^16 vertices; the paper's sizes are in a curve", doubled,
    ),
    Counterpart(
        "Figure 3a", "Delaunay meshes", "Delaunay", MODEL,
        "no: betweenness, not all pairs; the paper has curves",
        traversals("Delaunay", "Delaunay 2^18"),
    ),
    Counterpart(
        "Figure 3b", "Kronecker graphs", "R-MAT", MODEL,
        "no: betweenness, not all pairs; the paper has curves",
        traversals("Kronecker", "R-MAT scale 16 ef 8"),
    ),
]  # fmt: skip
PAPERS = {
    "gpu-fan": GPU_FAN, "sriram": SRIRAM, "fan": FAN, "cuda-mcl": MCL, "multi-search": MULTI_SEARCH,
}  # fmt: skip
