"""Sizes and limits that decide which way a run takes, by names that tests use: where they are in
the package is written here alone."""

import dataclasses
from typing import Any, Protocol

import pytest

from torchcent.runtime._tuned import TUNED, Tuned

PLACES = {
    # Sources x slots, or products, below which a run has no thread and no bar.
    "inline": "runtime._tuned.TUNED.inline",
    "mcl_inline": "clustering._run._INLINE_WORK",
    # Vertices of a graph that `auto` leaves to the tiny engine.
    "tiny_nodes": "engines._tiny.AUTO_NODES",
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
    "twins_sources": "engines._choice.MANY_SOURCES",
    "twins_sources_on_cuda": "engines._choice.MANY_SOURCES_ON_CUDA",
    # Chains: kept vertices per batch, chains at one of them, and the time of sweeps.
    "chains_ball": "engines._chains._BALL",
    "chains_at": "engines._chains._MOST_AT",
    "chains_together": "engines._chains._TOGETHER",
    "chains_together_on_cuda": "engines._chains._TOGETHER_ON_CUDA",
    "chains_least_on_cuda": "engines._chains._LEAST_ON_CUDA",
    "chains_alone_on_cuda": "engines._chains._ALONE_ON_CUDA",
    # Hierarchies: sources side by side, and sources from which contraction is repaid.
    "hierarchy_lanes": "engines._hierarchy_costs.LANES",
    "hierarchy_least": "engines._hierarchy.LEAST",
    "blocks_work": "engines._blocks.LEAST_WORK",
    "blocks_sources": "engines._blocks.MANY_SOURCES",
    "blocks_sources_on_cuda": "engines._blocks.MANY_SOURCES_ON_CUDA",
    # Slots from which several threads of the CPU share a search.
    "shared_slots": "engines._costs.SHARED_SLOTS",
    # Units of work: sources x slots, and batches, of each at least.
    "units_work": "runtime._tuned.TUNED.unit",
    "units_batches": "distribute._units.LEAST_BATCHES",
    "units_first": "distribute._units.FIRST",
    "units_sources_on_cuda": "runtime._tuned.TUNED.sources_on_cuda",
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


class Tuning(Protocol):
    def __call__(self, **values: Any) -> None: ...


def tuned(patch: pytest.MonkeyPatch) -> Tuning:
    """`tuned(patch)(inline=0)` sets one until the patch is undone; of a table all entries."""

    def change(**values: Any) -> None:
        for name, value in values.items():
            module, _, constant = f"torchcent.{PLACES[name]}".rpartition(".")
            if constant in Tuned.__annotations__:  # of every engine
                of_each = value if isinstance(value, dict) else dict.fromkeys(TUNED, value)
                for engine, number in of_each.items():
                    changed = dataclasses.replace(TUNED[engine], **{constant: number})
                    patch.setitem(TUNED, engine, changed)
                continue
            held = getattr(__import__(module, fromlist=["_"]), constant)
            if isinstance(held, dict) and not isinstance(value, dict):
                value = dict.fromkeys(held, value)
            patch.setattr(f"{module}.{constant}", value)
        # A plan that a graph keeps is from before.
        patch.setattr("torchcent.engines._plan.MOST_KEPT", 0)

    return change
