"""Sizes and limits that decide which way a run takes, by names that tests use: where they are in
the package is written here alone."""

from typing import Any, Protocol

import pytest

PLACES = {
    # Sources x slots, or products, below which a run has no thread and no bar.
    "paths_inline": "_driver._INLINE_WORK",
    "distances_inline": "_distance_plan.INLINE_WORK",
    "closure_inline": "closure._INLINE_WORK",
    "mcl_inline": "_mcl._run._INLINE_WORK",
    # Vertices of a graph that `auto` leaves to the tiny engine.
    "tiny_nodes": "_tiny.AUTO_NODES",
    # Path counts of the tensor engine that get an exponent of their own.
    "tensor_counts": "_tensor._search.LARGEST_COUNT",
    # Extremes: searches that bounds come from, and when they are given up.
    "longest_roots": "_longest.ROOTS",
    "longest_batch": "_longest.BATCH",
    "longest_trial": "_longest.TRIAL",
    "longest_few": "_longest.FEW",
    "extremes_single": "extremes.MOST_SINGLE",
    "extremes_batch": "extremes.BATCH",
    "bounds_single": "_bounds.MOST_SINGLE",
    "eccentricity_fewest": "_eccentricity.FEWEST",
    "eccentricity_trial": "_eccentricity.TRIAL",
    "top_fewest": "_top_closeness.FEWEST",
    "top_few": "_top_closeness.FEW",
    "top_batch": "_top_closeness.BATCH",
    "top_trial": "_top_closeness.TRIAL",
    # Seconds of exact scores that are taken for nothing.
    "exact_for_nothing": "_approx._cost.EXACT_SECONDS",
    # Slots that preparation on a device looks at together.
    "device_window": "_device._WINDOW",
    # Text that is taken at a time.
    "text_chunk": "io._tokens.CHUNK",
    # Markov clustering: when dense matrices pay, products at a time, graphs of a batch at a time.
    "mcl_small": "_mcl._plan.SMALL",
    "mcl_dense_gain": "_mcl._plan.GEMM_GAIN",
    "mcl_products": "_mcl._tensor.PRODUCTS",
    "mcl_products_on_accelerator": "_mcl._tensor.PRODUCTS_ON_ACCELERATOR",
    "mcl_largest": "_mcl._batch.LARGEST",
    "mcl_block": "_mcl._batch._BLOCK",
    "mcl_block_on_accelerator": "_mcl._batch._BLOCK_ON_ACCELERATOR",
}


class Tuning(Protocol):
    def __call__(self, **values: Any) -> None: ...


def tuned(patch: pytest.MonkeyPatch) -> Tuning:
    """`tuned(patch)(paths_inline=0)` sets one until the patch is undone; of a table all entries."""

    def change(**values: Any) -> None:
        for name, value in values.items():
            module, _, constant = f"torchcent.{PLACES[name]}".rpartition(".")
            held = getattr(__import__(module, fromlist=["_"]), constant)
            if isinstance(held, dict) and not isinstance(value, dict):
                value = dict.fromkeys(held, value)
            patch.setattr(f"{module}.{constant}", value)

    return change
