"""The choice of an engine for a graph and a measure, with the reason."""

from __future__ import annotations

import math

import torch

from torchcent.check import _common as check
from torchcent.engines.measures._kernels import Kernel
from torchcent.engines.measures._request import Request, weights
from torchcent.engines.measures._visitors import Visitor
from torchcent.engines.plan import _hierarchy_choice as _sweeps
from torchcent.engines.plan._costs import ENGINES
from torchcent.engines.plan._job import Job
from torchcent.engines.plan._preparation import Preparation
from torchcent.engines.reduce import _chains, _cutoffs, _hierarchy
from torchcent.engines.reduce._core import Core
from torchcent.engines.reduce._fold import Fold
from torchcent.engines.reduce._twins import Twins
from torchcent.graph import Graph
from torchcent.runtime import _ops
from torchcent.runtime._codes import BATCH
from torchcent.runtime._codes import WIDE_BITS as WIDE

# The engine with many lanes and the one with a single search at a time, by hops and by weights.
_PAIR = {False: ("lanes", "queue"), True: ("relax", "dijkstra")}
FEW_SOURCES = 8
# Ratio of depth to log2(n) up to which lanes are faster. It is 1.5 to 2.1 for social, web and
# citation graphs, and 2.8 or more for meshes and roads (table in docs/notes/performance.md).
LANES_PER_LOG = 2.4
# Slots per vertex from which lanes are faster on deep graphs, such as triangulations: on the CPU a
# ball of 64 neighbouring sources spans few levels, and lanes beat the queue by a factor of 1.2 to
# 2.0. With 4 slots or fewer the queue is faster. Balls consist of sources, so nearly all vertices
# must be sources.
DENSE, NEARLY_ALL = 5, 0.75
# Distances: ratio of depth to log2(n) above which sources are ordered by neighbourhood. This order
# is 1.5 to 6 times faster at ratios of 6 and more (meshes, roads). At 2.6 and less (social and web
# graphs) the order from the hub is faster, by a factor of up to 2.5.
NEIGHBOURS_PER_LOG = 4
# Sources from which twins are looked for: it takes as long as 30 to 100 searches in lanes on the
# CPU, where it is done for CUDA, too; half as many suffice in blocks, where there tend to be more
# of them. They are merged if the search is left with at most this share
# of the work, counted in sources x slots.
MANY_SOURCES, MANY_SOURCES_ON_CUDA, _TWINS_SHARE = 2**12, 2**17, 0.92
# Share of the vertices within a cutoff below which single searches are faster. By hops on the CPU,
# lanes took 1.3 to 2 times as long as the queue at shares of 0.5, 1 and 7 % (Barabasi-Albert,
# Erdos-Renyi, Watts-Strogatz), and 0.64 to 0.76 times at 8, 11 and 24 % (in the same order).
NEAR, NEAR_BY_HOPS = 0.25, 0.075
# Share of the vertices within a cutoff from which sweeps of a hierarchy are faster than searches,
# for sums of distances: of roads of 50,000 vertices 2 % with one cutoff, 2.7 % with three.
SWEPT = 0.03
# Each pair of ends counts once, by the shares of its paths.
_BY_PAIRS = (Visitor.BETWEENNESS, Visitor.EDGE_BETWEENNESS)
_OF_REFERENCE = {"paths": "reference_dependency", "distances": "reference_sums"}
#: operators that search, by hops and by weights
OPERATORS = {
    "paths": ("path_dependency", "weighted_dependency"),
    "distances": ("distance_sums", "weighted_source_sums"),
}


Choice = tuple[str, str, Core]


def choose(
    cores: Preparation, measure: Kernel, fold: str, request: Request, num_sources: int | None
) -> Choice:
    """The engine, the reason, and the core in the order that suits it; None means all sources.

    Where chains are contracted, it is "chains" (_chains.py).

    Raises:
        ValueError: the requested engine has no kernels for the device.
    """
    graph, engine = cores.graph, request.engine
    cutoffs = request.cutoffs
    operator = OPERATORS[measure.family][graph.is_weighted]
    if engine == "reference":
        in_reference(measure)
        check.kernel(engine, _OF_REFERENCE[measure.family], graph.device)
        return engine, "asked for, to be compared with", cores.core("given", "no")
    if engine not in ("auto", "tensor"):
        checked = check.kernel if measure.family == "paths" else check.distance_kernel
        checked(engine, operator, graph.device)
    if engine == "tensor" or not _ops.has_kernel(operator, graph.device):
        reason = "asked for" if engine == "tensor" else "the only one without compiled kernels"
        return "tensor", reason, cores.core("given", "no")
    if engine == "hierarchy":
        if refusal := without_hierarchy(graph, measure, request, graph.device):
            raise ValueError(f"engine='hierarchy' {refusal}; leave Run(engine='auto')")
        core = cores.core("degree", _folding_before_contraction(measure, fold))
        return engine, "", cores.hierarchy(core, request.progress)
    if measure.family == "distances" and not graph.is_weighted:
        return _by_hops(cores, measure, fold, request, num_sources)
    few = num_sources is not None and num_sources < FEW_SOURCES
    reason, share = "asked for", 1.0
    if engine == "auto" and graph.is_weighted and measure.by_depth:
        core = cores.core("degree" if few else "bandwidth", fold)
        return "dijkstra", "relax has no distances on its way back", core
    # On CUDA a single search by hops has one multiprocessor; half-empty lanes have all of them.
    alone = few and (graph.is_weighted or graph.device.type == "cpu")
    if engine == "auto" and alone:
        engine = _PAIR[graph.is_weighted][1]
        reason = f"fewer than {FEW_SOURCES} sources do not fill lanes"
    elif engine == "auto":
        core = cores.core("degree", fold, searched=False)
        single = graph.device.type == "cuda" and too_deep_for_lanes(core)
        if cutoffs is not None and not single:
            share = _cutoffs.share(core, _cutoffs.limits(graph, cutoffs)[-1])
        hops = graph.device.type == "cpu" and not graph.is_weighted
        if share < (NEAR_BY_HOPS if hops else NEAR):
            engine = _PAIR[graph.is_weighted][1]
            reason = (
                f"about {share:.1%} of the vertices are within the cutoff: few lanes share arcs"
            )
        else:
            engine, reason = _faster(graph, core, num_sources)
    sweeps = cutoffs is None or share >= SWEPT
    if (
        request.engine == "auto"
        and sweeps
        and (engine == _PAIR[graph.is_weighted][1] or too_deep_for_lanes(core))
    ):
        hierarchical = _hierarchical(cores, measure, fold, request, num_sources, engine)
        if hierarchical is not None:
            return "hierarchy", "", hierarchical
    choice = _contracted(cores, measure, fold, request, num_sources, engine)
    if choice is not None:
        return "chains", "", choice
    # Few searches do not repay an order that is better for them.
    core = cores.core("degree" if few else ENGINES[engine].order, fold)
    if engine == "lanes" and graph.device.type == "cpu" and too_deep_for_lanes(core):
        core = cores.core("bandwidth", fold, BATCH["lanes"])
    return engine, reason, core


def rows_by_hierarchy(cores: Preparation, measure: Kernel, request: Request, sources: int) -> bool:
    """Whether rows of distances by hops in a deep graph are faster by a hierarchy.

    It is contracted to find out.
    """
    return _hierarchical(cores, measure, "no", request, sources, "bits") is not None


def in_reference(measure: Kernel) -> None:
    """Checks that the engine "reference" has this measure."""
    if measure.by_depth or (measure.family == "distances" and not measure.rounds):
        raise ValueError(
            f"engine='reference' does not compute {measure.name}; leave Run(engine='auto')"
        )


def without_hierarchy(graph: Graph, measure: Kernel, request: Request, device: torch.device) -> str:
    """Why there cannot be a search of a hierarchy on this device; "" if there can."""
    paths = measure.family == "paths"
    if paths and measure.visitor not in (*_BY_PAIRS, Visitor.STRESS):
        return f"does not compute {measure.name}"
    if request.through:
        return "has no weights of the vertices that paths pass"
    adds_up = measure.folds != "no" or measure.collapses
    if not paths and not graph.is_weighted and not adds_up and not measure.rows:
        return f"does not compute {measure.name} by hops"
    if request.cutoffs is not None and (paths or not graph.is_weighted):
        return "takes no cutoff" + ("" if paths else " by hops")
    scale = graph.scale
    if graph.is_weighted and graph.tie_tolerance > 0:
        return "needs exact sums of weights, so that it takes no tie_tolerance"
    if graph.is_weighted and not scale.exact:
        return f"needs exact sums of weights, and here they are {scale}"
    by_levels = "hierarchy_level_sums" if device.type == "cuda" else "hierarchy_sums"
    if not _ops.has_kernel("hierarchy_dependency" if paths else by_levels, device):
        return f"has no compiled kernels for {device}"
    return ""


def _hierarchical(
    cores: Preparation, measure: Kernel, fold: str, request: Request, num_sources: int | None,
    engine: str,
) -> Core | None:  # fmt: skip
    """The core, if it is to be contracted to a hierarchy instead of searches by this engine."""
    graph = cores.graph
    if cores.twins is not None or without_hierarchy(graph, measure, request, graph.device):
        return None
    fold = _folding_before_contraction(measure, fold)
    core = cores.core("degree", fold, searched=False)
    sources = core.searched if num_sources is None else min(num_sources, core.searched)
    paths = measure.family == "paths"
    if not _hierarchy.may_pay(core, sources, paths):
        return None
    chains = measure.visitor in _BY_PAIRS and _has_chains(core, request)
    if chains and _chains_first(cores, core, request, sources):
        return None
    searches = _sweeps.seconds_of_searches(core, sources, engine)
    if searches and chains and _chains.may_pay(core, sources):
        searches = min(searches, _chains.seconds(core, sources, cores.chains(core)))
    room, stress = cores.room(core), measure.visitor is Visitor.STRESS
    if not _sweeps.pays(core, sources, searches, room, stress, request.progress):
        most = _sweeps.most_fill(core, searches)
        cores.is_short |= _hierarchy.most_fill_within(core, room) < most
        return None
    core, limit = cores.core("degree", fold), cores.limit()
    job = Job(graph, core, measure, sources, held=0)
    fits = ENGINES["hierarchy"].cost(job, limit).memory <= limit
    cores.is_short |= not fits
    return core if fits else None


def _has_chains(core: Core, request: Request) -> bool:
    """Whether chains may be contracted, if there are any."""
    undirected = core.colptr is core.rowptr
    return undirected and request.may("chains") and bool((core.rowptr.diff() == 2).any())


def _chains_first(cores: Preparation, core: Core, request: Request, sources: int) -> bool:
    """Whether contracted chains are asked for, or leave so little that they are faster."""
    if request.reduce is not None:
        return cores.chains(core).exact
    most = _sweeps.seconds_on_road(core, sources)
    if _chains.seconds(core, sources) > most or not _chains.may_pay(core, sources):
        return False
    chains = cores.chains(core)
    return _chains.seconds(core, sources, chains) < most and _chains.pays(core, chains, sources)


def _folding_before_contraction(measure: Kernel, fold: str) -> str:
    """Leaves are cheap in a hierarchy, where distances and stress need no formulas for them."""
    return fold if measure.visitor in _BY_PAIRS else "no"


def _contracted(
    cores: Preparation, measure: Kernel, fold: str, request: Request, num_sources: int | None,
    engine: str,
) -> Core | None:  # fmt: skip
    """The core, if its chains are to be contracted instead of a search by this engine."""
    graph = cores.graph
    possible = (
        request.may("chains")
        and measure.visitor in _BY_PAIRS
        and graph.is_symmetric
        and request.engine in ("auto", "queue", "dijkstra")
        and cores.twins is None
        and graph._ties_are_exact
        and _ops.has_kernel("chain_dependency", graph.device)
    )
    usual = request.reduce is None
    if not possible or (
        usual and (request.engine != "auto" or engine not in ("queue", "dijkstra"))
    ):
        return None
    core = cores.core("degree", fold, searched=False)
    if not usual:
        contracts = bool((core.rowptr.diff() == 2).any()) and cores.chains(core).exact
    else:
        sources = core.searched if num_sources is None else min(num_sources, core.searched)
        contracts = (
            sources >= FEW_SOURCES
            and _chains.may_pay(core, sources)
            and _chains.pays(core, cores.chains(core), sources)
        )
    return cores.core("degree", fold) if contracts else None


def folding(graph: Graph, measure: Kernel, request: Request, num_sources: int | None) -> str:
    """Which leaves may be folded.

    The search from a folded leaf is that of its neighbour, with all distances changed by a
    constant. Ties are the same if sums are exact and compared exactly. Sums that are rounded, or
    compared with a relative tolerance, may tie in one search and not in the other.
    """
    if measure.family == "distances":
        whole = num_sources is None and request.cutoffs is None
        return measure.folds if whole and not graph.is_weighted else "no"
    if not request.may("fold"):
        return "no"
    return measure.folds if graph._ties_are_exact else "no"


def merging(
    graph: Graph, measure: Kernel, request: Request, fold: str, num_sources: int | None
) -> Twins | None:
    """The twins that are searched once, if there are some and it pays."""
    weighted = graph.is_weighted
    possible = (
        request.may("twins")
        and measure.visitor in (Visitor.BETWEENNESS, Visitor.EDGE_BETWEENNESS, Visitor.STRESS)
        and request.engine in ("auto", *_PAIR[weighted])
        and graph._ties_are_exact
        and _ops.has_kernel(OPERATORS["paths"][weighted], graph.device)
    )
    if not possible:
        return None
    starts = graph.num_nodes if num_sources is None else num_sources
    least = MANY_SOURCES_ON_CUDA if graph.device.type == "cuda" else MANY_SOURCES
    least //= 1 + request.blocked
    if request.reduce is None and (starts < least or request.engine != "auto"):
        return None
    fold_of_graph = Fold.of(graph, fold)
    label = None
    if by_weights(graph, measure, request):
        ends = [weights(graph, x) for x in (request.sources, request.targets)]
        hanging = [fold_of_graph.hanging(graph, x) for x in ends]
        label = Twins.label_of(hanging if measure.per_slot else [*ends, *hanging])
    twins = Twins.of(graph, fold_of_graph, label)
    if request.reduce is not None:
        return twins if twins.merged else None
    vertices, slots = twins.work(graph)
    leaves = fold_of_graph.order.numel()
    num_sources_left = max(int(torch.count_nonzero(graph.degree)) - leaves, 1)
    work = num_sources_left if num_sources is None else min(num_sources_left, num_sources)
    pays = min(vertices, work) * slots <= _TWINS_SHARE * work * (graph.num_slots - 2 * leaves)
    return twins if pays else None


def by_weights(graph: Graph, measure: Kernel, request: Request) -> bool:
    """Returns whether only vertices of equal weights may be twins (_twins.py)."""
    counts_ends = request.endpoints and not graph.is_symmetric
    return measure.per_slot or measure.visitor == Visitor.STRESS or counts_ends


def too_deep_for_lanes(core: Core) -> bool:
    """Returns whether only few sources would share an arc at a time."""
    return core.depth > _lanes_depth(core)


def _lanes_depth(core: Core) -> float:
    return LANES_PER_LOG * math.log2(max(core.num_nodes, 2))


def _faster(graph: Graph, core: Core, num_sources: int | None) -> tuple[str, str]:
    """Chooses between many lanes and a single search, by the depth of the graph in hops."""
    together, single = _PAIR[graph.is_weighted]
    depth, limit = core.depth, _lanes_depth(core)
    if not too_deep_for_lanes(core):
        return together, f"depth about {depth} <= {limit:.0f}: many sources share each arc"
    slots = core.num_slots / core.num_nodes
    all_of_them = num_sources is None or num_sources >= NEARLY_ALL * core.num_nodes
    in_balls = core.rowptr.device.type == "cpu" and not graph.is_weighted
    if in_balls and slots >= DENSE and all_of_them:
        return (
            together,
            f"{slots:.0f} slots per vertex: {BATCH['lanes']} neighbouring sources share each",
        )
    return single, f"depth about {depth} > {limit:.0f}: few lanes would share an arc"


def too_deep_for_bits(core: Core) -> bool:
    """Whether few of many searches side by side reach a vertex at the same level."""
    return core.depth > NEIGHBOURS_PER_LOG * math.log2(max(core.num_nodes, 2))


def _by_hops(
    cores: Preparation, measure: Kernel, fold: str, request: Request, num_sources: int | None
) -> Choice:
    """Distances in hops: bits, or for a deep graph a hierarchy or, on CUDA, single searches."""
    engine, on_cuda = request.engine, cores.graph.device.type == "cuda"
    if engine == "queue":
        return engine, "asked for", cores.core("bandwidth", "no")
    if num_sources is not None and num_sources < WIDE:
        core = cores.core("given", "no")
        if on_cuda and engine == "auto" and too_deep_for_bits(core):
            return "queue", f"depth about {core.depth}: a block for each source", core
        return "bits", f"{num_sources:,} sources side by side", core
    core = cores.core("degree", fold, searched=False)
    depth = core.depth
    if too_deep_for_bits(core):
        if engine == "auto" and num_sources is None:
            choice = _hierarchical(cores, measure, fold, request, num_sources, "bits")
            if choice is not None:
                return "hierarchy", "", choice
        if engine == "auto" and on_cuda:
            reason = f"depth about {depth}: a block for each source"
            return "queue", reason, cores.core("bandwidth", "no")
        reason = f"depth about {depth}: sources by neighbourhood, {WIDE} side by side"
        return "bits", reason, cores.core("bandwidth", fold, WIDE)
    return "bits", f"depth about {depth}: {WIDE} sources share each arc", cores.core("degree", fold)
