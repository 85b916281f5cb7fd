"""Sizes and limits that decide which way a run takes, and functions that tests replace, by names
that tests use: where they are in the package is written here alone."""

import builtins
import dataclasses
import pkgutil
from typing import Any, Protocol

import pytest

from torchcent.runtime._tuned import TUNED

PLACES = {
    # Sources x slots, or products, below which a run has no thread and no bar.
    "inline": "runtime._tuned.TUNED.inline",
    "mcl_inline": "clustering._run._INLINE_WORK",
    # Vertices of a graph that `auto` leaves to the tiny engine.
    "tiny_nodes": "engines.search._tiny.AUTO_NODES",
    # Path counts of the tensor engine that get an exponent of their own.
    "tensor_counts": "engines._tensor._search.LARGEST_COUNT",
    # Extremes: searches that bounds come from, and when they are given up.
    "longest_roots": "distances._longest.ROOTS",
    "longest_batch": "distances._longest.BATCH",
    "longest_trial": "distances._longest.TRIAL",
    "longest_few": "distances._longest.FEW",
    "extremes_single": "distances._extremes.MOST_SINGLE",
    "extremes_batch": "distances._extremes.BATCH",
    "bounds_single": "distances._bounds.MOST_SINGLE",
    "eccentricity_fewest": "distances._eccentricity.FEWEST",
    "eccentricity_trial": "distances._eccentricity.TRIAL",
    "top_fewest": "distances._top_closeness.FEWEST",
    "top_few": "distances._top_closeness.FEW",
    "top_batch": "distances._top_closeness.BATCH",
    "top_trial": "distances._top_closeness.TRIAL",
    # Seconds of exact scores that are taken for nothing.
    "exact_for_nothing": "approx._cost.EXACT_SECONDS",
    # Slots that preparation on a device looks at together.
    # Sources x slots and sources from which blocks are looked for.
    "twins_sources": "engines.plan._choice.MANY_SOURCES",
    "twins_sources_on_cuda": "engines.plan._choice.MANY_SOURCES_ON_CUDA",
    # Chains: kept vertices per batch, chains at one of them, and the time of sweeps.
    "chains_ball": "engines.reduce._chains._BALL",
    "chains_at": "engines.reduce._chains._MOST_AT",
    "chains_together": "engines.reduce._chains._TOGETHER",
    "chains_together_on_cuda": "engines.reduce._chains._TOGETHER_ON_CUDA",
    "chains_least_on_cuda": "engines.reduce._chains._LEAST_ON_CUDA",
    "chains_alone_on_cuda": "engines.reduce._chains._ALONE_ON_CUDA",
    # Hierarchies: sources side by side, and sources from which contraction is repaid;
    # vertices from which sums of reciprocals collapse.
    "hierarchy_lanes": "engines.reduce._hierarchy_costs.LANES",
    "hierarchy_least": "engines.reduce._hierarchy.LEAST",
    "rows_least": "engines.reduce._hierarchy_costs.LEAST_OF_ROWS",
    "deep_per_log": "engines.plan._choice.NEIGHBOURS_PER_LOG",
    "hierarchy_collapsed": "distances._by_hierarchy._LEAST_COLLAPSED",
    "blocks_work": "engines.blocks._blocks.LEAST_WORK",
    "blocks_sources": "engines.blocks._blocks.MANY_SOURCES",
    "blocks_sources_on_cuda": "engines.blocks._blocks.MANY_SOURCES_ON_CUDA",
    # Slots from which several threads of the CPU share a search.
    "shared_slots": "engines.plan._costs.SHARED_SLOTS",
    # Units of work: sources x slots, and batches, of each at least.
    "units_work": "runtime._tuned.TUNED.unit",
    "units_batches": "distribute._units.LEAST_BATCHES",
    "units_first": "distribute._units.FIRST",
    "units_sources_on_cuda": "runtime._tuned.TUNED.sources_on_cuda",
    # Bytes of a block of searches for encodings; random walks: what is multiplied dense.
    "encoding_block": "pairs._trees._BYTES",
    "returns_dense": "walks._returns._DENSE",
    "returns_of_degree": "walks._returns._OF_DEGREE",
    # Curvature: what is looked up or solved together, and components that are inverted together.
    "cycles_together": "curvature._cycles._TOGETHER",
    "problems_together": "curvature._problems.TOGETHER",
    "resistance_small": "curvature._resistance._SMALL",
    "layout_all": "plots._layout._ALL",
    "returns_in_kernel": "walks._returns._has_kernel",
    "returns_columns": "walks._returns._COLUMNS",
    # Spectra: compiled code, and sizes of graphs that are decomposed whole.
    "spectra_in_kernel": "encodings._spectra._has_kernel",
    "walk_pairs_in_kernel": "encodings._walks._has_kernel",
    "spectra_dense": "encodings._spectra._MOST_DENSE",
    "spectra_kernel": "encodings._dense.LARGEST",
    # Products before a factor, the fronts for which it is sparse, and vertices of a dense one.
    "spectra_products": "encodings._large._FEW_PRODUCTS",
    "spectra_flat": "encodings._large._FLAT",
    "spectra_widest": "encodings._large._WIDEST",
    "spectra_factor": "encodings._large._MOST_DENSE",
    # Substructures: rows of a table, and the largest number for a pair of colours.
    "patterns_in_kernel": "patterns._counts._has_kernel",
    "patterns_rows": "patterns._tables.ROWS",
    "colors_largest": "patterns._colors._LARGEST",
    # Diffusion: entries of rows of unknown size, and arcs on tensors, that are taken together.
    "diffusion_room": "diffusion._rows._ROOM",
    "diffusion_arcs": "diffusion._rows._ARCS",
    # Graphs that change: neighbours that are looked up together, and at most.
    "counts_together": "dynamic._counts._TOGETHER",
    "counts_few": "dynamic._counts._FEW",
    "counts_most": "dynamic._counts._MOST",
    # Vertices of graphs for which systems of equations are solved directly.
    "direct_most": "walks._direct.MOST",
    # Pairs within a distance that are taken at a time.
    "pairs_together": "pairs._near.MOST_PAIRS",
    # Neighbours of pairs that are looked up together; entries whose nearest member is found so.
    "pair_probes": "pairs._features._PROBES",
    "anchors_block": "pairs._anchors._BLOCK",
    "anchors_draws": "pairs._anchors._DRAWS",
    # Vertices of components that are searched together.
    "pieces_least": "engines.plan._pieces.LEAST",
    # Text that is taken at a time.
    "text_chunk": "io._files.CHUNK",
    # Markov clustering: when dense matrices pay, products at a time, graphs of a batch at a time.
    "mcl_small": "clustering._plan.SMALL",
    "mcl_dense_gain": "clustering._plan.GEMM_GAIN",
    "mcl_products": "clustering._tensor.PRODUCTS",
    "mcl_products_on_accelerator": "clustering._tensor.PRODUCTS_ON_ACCELERATOR",
    "mcl_largest": "clustering._batch.LARGEST",
    "mcl_block": "clustering._batch._BLOCK",
    "mcl_block_on_accelerator": "clustering._batch._BLOCK_ON_ACCELERATOR",
}
STANDINS = {
    # What is compiled, for which kinds of device, all operators, and of which version.
    "compiled": "runtime._ops.available",
    "compiled_for_cuda": "runtime._ops.cuda",
    "without_kernels": "runtime._host.without_kernels",
    "to_host": "runtime._host._to_host",
    "has_kernel": "runtime._ops.has_kernel",
    "operators": "runtime._ops.ops",
    "simd": "runtime._ops.simd",
    "version": "runtime._config.__version__",
    "diffusion_operators": "diffusion._rows._ops",
    "encoding_operators": "pairs._encoding._ops",
    "near_operators": "pairs._near._ops",
    "anchor_operators": "pairs._anchors._ops",
    "cycle_operators": "curvature._cycles._ops",
    "transport_operators": "curvature._ollivier._ops",
    "rewiring_operators": "curvature._sdrf._ops",
    # What the system has and grants: bytes that are free, threads, files, a Ctrl-C.
    "free_memory": "runtime._memory._free",
    "start_thread": "runtime._watch.start_new_thread",
    "threading": "runtime._watch.threading",
    "open": "runtime._replacing.open",
    "interrupted": "runtime._interrupt._raised",
    # Reading arguments, at whose end another thread may change them.
    "csr": "graph._csr.csr",
    "ids": "graph._csr.ids",
    "ends_of_weights": "check._weights._ends",
    "arcs_of_objects": "graph._inputs.arcs",
    "devices": "check._devices.devices",
    # Readers of text, each for what the one before it refuses, and writers.
    "streamed": "io._text._streamed",
    "read_compiled": "io._text._compiled",
    "write_scores": "cli._scores.write_scores",
    "write_rows_of_scores": "io._scores.write_rows",
    "write_rows_of_edges": "io._write.write_rows",
    # Seconds that methods are compared by.
    "exact_seconds": "approx._cost.exact_seconds",
    "is_worth_timing": "approx._cost.is_worth_timing",
    "measured": "approx._cost.measured",
    # Searches, which tests count.
    "run_search": "engines.search._driver.run",
    "compiled_search": "engines.search._driver._compiled",
    "run_tiny": "engines.search._tiny.run",
    "run_units": "distribute._run.run",
    "run_sums": "distances._distance_sums.run",
    "run_weighted_sums": "distances._weighted_sums.run",
    "distances_from": "distances._bounds.distances_from",
    "sums_from": "distances._weighted_sums.source_sums",
    "top_sums_from": "distances._top_closeness.source_sums",
    "rows_of_distances": "distances._weighted_sums._Rows",
    "bounds": "distances._extremes.Bounds",
    "hops": "engines.reduce._hops.hops",
    "lengths": "engines.search._weighted_rows.single",
    "groups_by_kernels": "groups._betweenness._by_kernels",
    "inverse": "flow._solver._inverse",
    "closure_fill": "pairs._columns.fill",
    "mcl_compute": "clustering._engines.Tensors.compute",
    "networkx_betweenness": "nx._betweenness.betweenness",
    "node_features_of_transforms": "transforms._vertices.node_features",
    # Choices of a run.
    "first_rung": "engines.search._driver._first_rung",
    "width": "engines.plan._flight.width",
    "is_faster_on_host": "engines.plan._on_host._is_faster",
}


class Tuning(Protocol):
    def __call__(self, **values: Any) -> None: ...


def original(name: str) -> Any:
    """What the package has at the place of this name."""
    return pkgutil.resolve_name(f"torchcent.{(PLACES | STANDINS)[name]}")


def tuned(patch: pytest.MonkeyPatch) -> Tuning:
    """`tuned(patch)(inline=0)` sets one until the patch is undone; of a table all entries."""

    def change(**values: Any) -> None:
        for name, value in values.items():
            owner, _, attribute = f"torchcent.{(PLACES | STANDINS)[name]}".rpartition(".")
            place = pkgutil.resolve_name(owner)
            if place is TUNED:  # of every engine
                of_each = value if isinstance(value, dict) else dict.fromkeys(TUNED, value)
                for engine, number in of_each.items():
                    changed = dataclasses.replace(TUNED[engine], **{attribute: number})
                    patch.setitem(TUNED, engine, changed)
                continue
            now = getattr(place, attribute, None)
            if isinstance(now, dict) and not isinstance(value, dict):
                value = dict.fromkeys(now, value)
            # A module may be given a function of its own in the place of a built-in one.
            patch.setattr(place, attribute, value, raising=not hasattr(builtins, attribute))
        if values.keys() & PLACES.keys():
            # A plan that a graph keeps is from before.
            patch.setattr("torchcent.engines.plan._plan.MOST_KEPT", 0)

    return change
