"""The compiled operators: registration, their contract under random weights, cancellation."""

import os
import random
from collections.abc import Callable

import oracles
import pytest
import torch
from graphs import arc_lists, edge_index, random_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import Launch
from interrupt import assert_stops
from torch import Tensor

import torchcent

pytestmark = pytest.mark.sweep

if os.environ.get("TORCHCENT_NO_EXTENSION"):
    pytest.skip("TORCHCENT_NO_EXTENSION is set: no operators", allow_module_level=True)

ops = torch.ops.torchcent
QUICK = ("test_schema", "test_autograd_registration", "test_faketensor")
TRACED = "test_aot_dispatch_dynamic"
F64 = torch.float64
# test_cuda_hierarchy.py
ONLY_ON_CUDA = {"hierarchy_level_sums", "hierarchy_level_distances"}


def samples() -> dict[str, list[tuple]]:
    """Arguments for every operator."""
    columns = edge_index(random_graph(12, 30, seed=1) + [(12, 0), (13, 12)])
    rowptr, col, _ = ops.csr(columns.int(), 15, False)
    colptr, row, _ = ops.transpose(rowptr, col)
    both_ptr, both, _ = ops.csr(columns.int(), 15, True)
    order, parent = ops.fold(both_ptr, both, True)
    ones, one = torch.ones(15, dtype=F64), torch.ones((), dtype=F64).expand(15)
    none = columns[:, :0]
    tree = torch.tensor([[1, 2, 3, 3], [0, 0, 2, 1]], dtype=torch.int32)
    down, below, _ = ops.csr(tree, 4, False)
    closed = (down, below, torch.tensor([1, 2, 1, 5]), torch.tensor([-8]), 1, 3)
    divided = (  # a triangle
        *(torch.tensor([0, 2, 4]), torch.tensor([2, 4, 6])),
        *(torch.tensor(x, dtype=torch.int32) for x in ([1, 2, 0, 2, 0, 1], [0, 1, 0, 2, 1, 2])),
        torch.tensor([[0, 1], [0, 2], [1, 2]], dtype=torch.int32),
    )
    ranked = [  # all pairs, of one graph
        (
            *(rowptr, col, weight, *unit),
            *(torch.tensor([0, 15]), torch.full((1,), 4.0, dtype=F64)),
        )
        for weight in (torch.empty(0, dtype=F64), torch.ones_like(col, dtype=F64))
        for unit in ((torch.ones(1, dtype=F64),), ())
    ]
    listed = [  # a search from each vertex reaches that vertex at least: rows of 15 have room
        (*own, torch.arange(col.numel())) for own in ranked if len(own) == 6
    ]
    counted = [
        (
            (rowptr, col, colptr, row),
            torch.tensor([0, 3, 5]),
            *(torch.ones(3, dtype=F64), torch.zeros(3, dtype=F64)),
            *(torch.ones(15, dtype=F64), torch.zeros(15, dtype=F64)),
            torch.zeros(col.numel() if measure == 1 else 15, dtype=F64),
            torch.zeros(4, dtype=torch.int64),
            *(measure, engine, rung, Launch(2)),
        )
        for measure in range(3)
        for engine, rung in KERNELS.values()
    ]

    searched = (rowptr, col, colptr, row), torch.tensor([0, 3, 5])
    far = [torch.full((3, 15), 255, dtype=torch.uint8), torch.full((3, 15), 2**31 - 1).int()]
    of_paths = torch.zeros(3, 15, 3, dtype=torch.int64), torch.zeros(15, 2, dtype=torch.int64)
    of_sources = [(distance, *of_paths) for distance in far]
    no_room = torch.empty(0, dtype=torch.uint8)
    weighted: dict[str, list[tuple]] = {}
    contracted = ops.hierarchy(both_ptr, both, None, 0.0, torch.zeros(4, dtype=torch.int64))
    vertex, first, to, length, paths, powers, _, last, sequence, split = contracted
    cells = ops.hierarchy_cells(first, to, length, last)
    swept = (vertex, first, to, length, paths, powers, last, sequence, split, *cells)
    for dtype in (torch.int32, F64):
        ones = torch.ones_like(col, dtype=dtype)
        graph, sources = (rowptr, col, ones, colptr, row, ones.clone()), torch.tensor([0, 3, 5])
        for engine in range(2):
            control = torch.zeros(4, dtype=torch.int64)
            plan = (control, engine, Launch(2))
            for name, results in {
                "weighted_source_sums": (torch.zeros(3, 3, dtype=F64), torch.zeros(3, dtype=F64)),
                "weighted_distances": (torch.zeros(3, 15, dtype=dtype),),
            }.items():
                weighted.setdefault(name, []).append((graph, sources, *results, *plan))
            limits = torch.tensor([1, 2], dtype=dtype)
            for name, rows in {"weighted_source_sums": 3, "weighted_vertex_sums": 15}.items():
                results = torch.zeros(rows, 2, 3, dtype=F64), torch.zeros(rows, 2, dtype=F64)
                arguments = graph, sources, *results, *plan, limits
                weighted.setdefault(name, []).append(arguments)
            rows = torch.zeros(3, 15, dtype=dtype)
            weighted["weighted_distances"].append((graph, sources, rows, *plan, limits))
        counts = torch.zeros(15, dtype=torch.int64)
        drawn = (*graph, True, 5, 3, 40, counts, torch.zeros(4, dtype=torch.int64), 2)
        weighted.setdefault("weighted_sample_paths", []).append(drawn)
        drawn = (*drawn[:10], torch.zeros(40, dtype=torch.int64), *drawn[11:])
        weighted.setdefault("weighted_draw_paths", []).append(drawn)
        for _, *begun, scores, control, measure, engine, rung, launch in counted:
            plan = (control, measure, engine, rung, launch)
            within = (torch.zeros(2, scores.numel(), dtype=F64), *plan, 0.0, None)
            arguments = (graph, *begun, *within, torch.tensor([1, 3], dtype=dtype))
            weighted.setdefault("weighted_dependency", []).append(arguments)
        for plan in counted:
            name, arguments = "weighted_dependency", (graph, *plan[1:-3], 1, *plan[-2:], 0.0)
            weighted.setdefault(name, []).append(arguments)

    def searches(*results: Callable[[int], Tensor]) -> list[tuple]:
        """Arguments of the bits engine for few, many and no sources."""
        return [
            (
                *(rowptr, col, colptr, row, sources),
                *(result(sources.numel()) for result in results),
                *(torch.zeros(4, dtype=torch.int64), 2),
            )
            for sources in (torch.tensor([0, 3, 5]), torch.arange(150) % 15, none[0])
        ]

    network = (torch.tensor([[0, 1, 2, 0], [1, 2, 3, 2]]), torch.ones(4, dtype=F64))
    _, left_over, *eliminated = ops.eliminated(*network, 4, 1, 0)
    blocks = ops.blocks(both_ptr, both)[1:]
    hierarchy = ops.hierarchy(both_ptr, both, None, 0.0, torch.zeros(4, dtype=torch.int64))
    cells = ops.hierarchy_cells(*hierarchy[1:4], hierarchy[7])
    union = ops.block_union(both_ptr, both, *blocks, 2)[:4]
    at, begin, to, length, paths, powers, slot, last, *_ = hierarchy
    of_climbs = (begin, to, length, slot, last, 30, 4, torch.zeros(4, dtype=torch.int64))
    position, kept = at.argsort().int(), torch.full((15,), -1, dtype=torch.int32)
    climbs = (begin, paths, powers, last, *ops.hierarchy_climbs(*of_climbs))
    climbs = ((*climbs, position, at.int(), kept), 15)
    zeros = [torch.zeros(size, dtype=torch.int64) for size in (4, 15, 20, 1)]
    return {
        "simd": [()],
        "codes": [(torch.empty(0, dtype=F64),)],
        "path_workspace": [
            (0, False, 5, 8, True, False, 1),
            (1, True, 5, 8, False, True, 2, 3, 4, 0, [], 2),
        ],
        "weighted_workspace": [(0, True, 4, 5, 8), (1, False, 8, 5, 8, True, True, True, True, 2)],
        "dynamic_workspace": [(9, 16, 1)],
        "distance_workspace": [(False, 5, 8, 64), (True, 5, 8, 512, 2)],
        "search_workspace": [(5, True), (10**7, False)],
        "chain_workspace": [(on_cuda, 4, (9, 3, 4, 6, 2), True, 2, 1) for on_cuda in (False, True)],
        "chain_row_bytes": [(3, 4, 2)],
        "hierarchy_workspace": [(on_cuda, 4, 9, 3, 64, False) for on_cuda in (False, True)],
        "sample_workspace": [(False, 0, 5, 8, True), (True, 8, 5, 8, False)],
        "tiny_workspace": [(False, 5, False), (True, 200, True)],
        "reference_workspace": [(5, 8, True)],
        "read_rows": [
            (torch.tensor(list(text), dtype=torch.uint8), *layout, 2)
            for text in (b"# c\n1 2 0.5\n3 4 1e3\n", b"1 2\nx y\n", b"")
            for layout in ((0, 3, 0, 1, 2), (ord(" "), 2, 1, 0, -1))
        ]
        + [
            (torch.tensor(list(text), dtype=torch.uint8), ord(","), 3, 0, 1, 2, 2, True, True)
            for text in (b'"a b",c,1\n\nc,"c",2e3\n', b"")
        ]
        + [
            (torch.tensor(list(text), dtype=torch.uint8), 0, 2, 0, 1, -1, 2, True, False, True)
            for text in (b"b c\na b\n", b"")
        ],
        "read_vectors": [
            (torch.tensor(list(text), dtype=torch.uint8), 2)
            for text in (b"0 1:0.5 2 $\n1 $ 2 0:1e3$", b"0 x $", b"")
        ],
        "name_numbers": [
            (
                [torch.tensor(list(text), dtype=torch.uint8) for text in texts],
                [torch.arange(4) for _ in texts],
                len(texts),
                2,
                len(texts) == 2,
            )
            for texts in ((b"abc",), (b"aba", b"bca"))
        ]
        + [([torch.tensor(list(b"a\0bc\0a\0"), dtype=torch.uint8)], [none[0]], 1)],
        "distinct_ids": [
            (columns[0], columns[1], columns[0][:0], 2),
            (columns[0] << 40, columns[1], none[0]),
            (none[0], none[0], none[0]),
        ],
        "id_places": [
            (torch.arange(15), columns[0], columns[1], 2),
            (torch.arange(15) << 40, columns[0] << 40, columns[1] << 40),
            (torch.arange(15) << 1, columns[0] << 1, columns[1] << 1),
            (none[0], none[0], none[0]),
        ],
        "row_sums": [
            (rowptr, col, None, ones),
            (rowptr, None, None, torch.ones(col.numel(), 3, dtype=F64), True, 2),
            (rowptr, col, torch.ones(col.numel(), dtype=F64), torch.ones(15, 2, dtype=F64)),
        ],
        "restarting_walk": [
            (rowptr, col, strength, even, dangling, even, even, even, 0.85, 1e-9, most)
            for even in [torch.full((15, 1), 1 / 15, dtype=F64)]
            for strength, dangling, most in (
                (None, None, 100),
                (torch.ones(col.numel(), dtype=F64), even, 3),
            )
        ],
        "sum_of_walks": [
            (rowptr, col, None, torch.ones(15, width, dtype=F64), 0.01, 1e-9, most, 24)
            for width, most in ((1, 100), (2, 1))
        ],
        "walk_returns": [
            (
                *(pointers, heads, strengths, rowptr.diff().double(), torch.tensor([0, n])),
                *(torch.arange(n), mutual, 4, torch.zeros(n, 5, dtype=F64)),
                *(torch.zeros(4, dtype=torch.int64), 2),
            )
            for pointers, heads, strengths, n, mutual in (
                (rowptr, col, None, 15, False),
                (both_ptr, both, torch.ones(both.numel(), dtype=F64), 15, True),
            )
        ],
        "walk_pairs": [
            (
                *(rowptr, col, None, rowptr.diff().double(), torch.tensor([0, 15])),
                *(torch.zeros(1, 15, 15, 3, dtype=F64), torch.zeros(4, dtype=torch.int64), 2),
            )
        ],
        "laplacian_eigen": [
            (
                *(both_ptr, both, None, torch.tensor([0, 15]), torch.tensor([0]), [1, 0, 1, 0], []),
                *(torch.zeros(1, 4, dtype=F64), torch.zeros(1, 4, dtype=torch.int64)),
                *(torch.zeros(rows, 4, dtype=F64), torch.zeros(4, dtype=torch.int64), 2),
            )
            for rows in (15, 0)
        ],
        "spectral_sums": [
            (
                *(both_ptr, both, torch.ones(both.numel(), dtype=F64), torch.tensor([0, 15])),
                *(torch.tensor([0]), [0, kind, 0], torch.tensor([0.5, 2.0], dtype=F64)),
                *(torch.zeros(*shape, 2, dtype=F64), torch.zeros(4, dtype=torch.int64), 2),
            )
            for kind, shape in ((0, (15,)), (0, (1, 15, 15)), (6, (15,)))
        ],
        "diffusion_rows": [
            (
                *(both_ptr, both, None, both_ptr.diff().double(), scale, torch.tensor([0, 3, 5])),
                *(torch.tensor([[1e15], [0.15]], dtype=F64), 0.85, True, top),
                *torch.zeros(2, 3, dtype=torch.int64),
                *(torch.zeros(45, dtype=torch.int64), torch.zeros(45, dtype=dtype)),
                *(torch.zeros(4, dtype=torch.int64), 2),
            )
            for scale, top, dtype in ((None, 0, F64), (torch.ones(15, dtype=F64), 2, torch.float32))
        ],
        "vertex_ids": [(columns,), (columns.int(),), (columns.T.contiguous().T,)],
        "csr": [
            (columns.int(), 15, False),
            (columns.int(), 15, True),
            (columns.int(), 15, True, 2),
            (none.int(), 3, True),
        ],
        "slots": [(columns.int(), rowptr, col), (none.int(), rowptr, col, 2)],
        "slot_weights": [
            (columns.int(), torch.ones(columns.shape[1], dtype=F64), rowptr, col, False),
            (columns.int(), torch.ones(columns.shape[1], dtype=F64), both_ptr, both, True, 2),
        ],
        "slot_sums": [
            (columns.int(), torch.ones(columns.shape[1], dtype=F64), rowptr, col, False),
            (columns.int(), torch.ones(columns.shape[1], dtype=F64), both_ptr, both, True, 2),
        ],
        "weight_digits": [
            (torch.tensor([0.5, 3], dtype=F64),),
            (torch.rand(7, dtype=F64) + 0.1, 6),
        ],
        "stored_fault": [
            (rowptr, col, None, None, False, 1),
            (
                both_ptr,
                both,
                torch.ones(both.numel(), dtype=F64),
                torch.tensor([0, 15]),
                True,
                2,
                2,
            ),
        ],
        "symmetric": [(rowptr, col), (both_ptr, both, torch.ones(both.numel(), dtype=F64), 2)],
        "transpose": [(rowptr, col), (both_ptr, both, 2)],
        "induced": [
            (rowptr, col, torch.tensor([4, 2, 9])),
            (rowptr, col, torch.arange(15), False, 2),
        ],
        "reverse_slots": [(both_ptr, both), (both_ptr, both, 2)],
        "components": [(rowptr, col, False), (both_ptr, both, True, 2)],
        "breadth_first": [
            (rowptr, col, colptr, row),
            (both_ptr, both, both_ptr, both, ops.depths(both_ptr, both, 0)),
        ],
        "bandwidth_order": [(rowptr, col, colptr, row), (both_ptr, both, both_ptr, both)],
        "fold": [(both_ptr, both, True), (both_ptr, both, False)],
        "blocks": [(both_ptr, both)],
        "twins": [
            (both_ptr, both, None, None, None, None, parent),
            (
                both_ptr,
                both,
                torch.ones(both.numel(), dtype=F64),
                None,
                None,
                None,
                parent,
                torch.arange(15) % 2,
                2,
            ),
            (rowptr, col, None, colptr, row, None, torch.full((15,), -1)),
        ],
        "chains": [
            (both_ptr, both, None, 4),
            (both_ptr, both, torch.ones(both.numel(), dtype=F64), 1, True),
        ],
        "hierarchy": [
            (both_ptr, both, None, 12.0, zeros[0]),
            (both_ptr, both, torch.ones(both.numel(), dtype=torch.int32), 0.0, zeros[0], 2),
            (
                both_ptr,
                both,
                torch.ones(both.numel(), dtype=F64),
                0.0,
                zeros[0],
                1,
                torch.arange(15),
            ),
            (both_ptr, both, None, 1e-9, zeros[0]),
        ],
        "hierarchy_climbs": [of_climbs],
        "hierarchy_sample_paths": [(*climbs, 1, 0, 20, zeros[1], zeros[0], 2)],
        "hierarchy_sample_arcs": [
            (*climbs, both_ptr, both, 1, 0, 20, torch.zeros_like(both).long(), zeros[0], 2)
        ],
        "hierarchy_draw_paths": [
            (*climbs, 1, 0, 20, zeros[2], zeros[0], 2),
            (*climbs, 1, 0, 1, zeros[3], zeros[0], 2, torch.tensor([[3], [4]])),
        ],
        "hierarchy_sums": [
            (
                *(swept, torch.tensor([0, 3, 5]), torch.ones(15, dtype=F64)),
                *(torch.zeros(3, 3, dtype=F64), torch.zeros(3, dtype=F64)),
                *(torch.zeros(4, dtype=torch.int64), reciprocals, 1024, 2, None, distances),
            )
            for reciprocals, distances in ((False, True), (True, True), (True, False))
        ],
        "hierarchy_vertex_sums": [
            (
                *(swept, torch.tensor([0, 3, 5]), torch.zeros(15, 3, dtype=F64)),
                *(torch.zeros(15, dtype=F64), torch.zeros(4, dtype=torch.int64), 2),
            )
        ],
        "hierarchy_distances": [
            (
                *(vertex, first, to, length, last, sequence, split, cells[-1]),
                *(torch.tensor([0, 3, 5]), torch.zeros(3, 15, dtype=dtype)),
                *(torch.zeros(4, dtype=torch.int64), 2),
            )
            for dtype in (torch.int32, F64)
        ],
        "hierarchy_levels": [(first, to, last)],
        "hierarchy_order": [(both_ptr, both, most_fill, zeros[0], 2) for most_fill in (12.0, 0.0)],
        "block_union": [(both_ptr, both, *blocks, least, 2) for least in (2, 3, 99)],
        "block_reach": [(*union, *union[2:], blocks[1], ones, one, 2)],
        "tree_sum": [(order, parent, ones), (order, parent, one)],
        "tree_paths": [(order, parent, ones, one, up) for up in (True, False)],
        "component_totals": [(ops.components(both_ptr, both, True), ones, 2)],
        "folded_sums": [
            (order, parent, ops.components(both_ptr, both, True), each, 2) for each in (ones, one)
        ],
        "folded_pairs": [
            (order, parent, one, ones, ones, ones, ones, ones, counts, not counts, 2)
            for counts in (False, True)
        ],
        "id_faults": [(torch.tensor([3, 1, 3]), 15)],
        "search_weights": [
            (both_ptr, torch.arange(15), order, ones, one, ones, ones, 2)
            for order in (None, torch.arange(15).flip(0))
        ],
        "depths": [(rowptr, col, 3)],
        "search_summary": [
            (rowptr, col, sources, torch.zeros(4, dtype=torch.int64), 2)
            for sources in (torch.tensor([3, 0, 14]), none[0])
        ],
        "search_order": [
            (
                rowptr,
                col,
                sources,
                limit,
                *(torch.zeros(3, 15, dtype=torch.int32) for _ in range(2)),
                torch.zeros(4, dtype=torch.int64),
                2,
            )
            for sources, limit in ((torch.tensor([3, 0, 14]), 15), (none[0], 0))
        ],
        "by_degree": [(rowptr.diff(),), (rowptr[:0],), (torch.tensor([3, 1000, -1, 3]),)],
        "core_numbers": [
            (rowptr, col, rowptr, col, both, torch.zeros(rowptr.numel() - 1, dtype=torch.int64))
            for both in (False, True)
        ],
        "symmetric_eigen": [
            (torch.ones(3, 4, 4, dtype=F64), states, 2) for states in (False, True)
        ],
        "dense_solve": [
            (torch.eye(4, dtype=F64).repeat(3, 1, 1), torch.ones(3, 4, 2, dtype=F64), 2)
        ],
        "dynamic_rows": [
            (
                *(*searched, *(x.clone() for x in rows), torch.zeros(4, dtype=torch.int64)),
                *(no_room, 1, 2),
            )
            for rows in of_sources
        ],
        "dynamic_lengths": [
            (
                *(*searched, columns[:, :2].contiguous(), columns[:, 5:6].contiguous()),
                *(distance.clone(), torch.zeros(3, 5, dtype=torch.int64)),
                *(torch.zeros(4, dtype=torch.int64), anew, 2),
            )
            for distance in far
            for anew in (True, False)
        ],
        "dynamic_repair": [
            (
                *(*searched, columns[:, :2].contiguous(), columns[:, 5:6].contiguous()),
                *(*(x.clone() for x in rows), torch.zeros(4, dtype=torch.int64), no_room, 2),
            )
            for rows in of_sources
        ],
        "dynamic_touched": [
            (
                *(
                    searched[0],
                    columns[:, :2].contiguous(),
                    torch.tensor([[0, 3, 5, 6], [4, 2, 7, 1]]),
                ),
                torch.ones(4, dtype=torch.int32),
                *(torch.zeros(4, dtype=torch.int8), torch.zeros(4, dtype=torch.int64), True, 5, 2),
            )
        ],
        "eliminated": [(*network, 4, 1, ratio) for ratio in (0, 2)],
        "expanded": [(left_over, *eliminated, 2)],
        "selected": [(left_over, *eliminated)],
        "row_spreads": [(left_over, torch.zeros(2).long(), torch.zeros(2).long(), 2)],
        "row_crossings": [(left_over, *torch.zeros(3, 2).long(), 1, 2)],
        "triangles": [(both_ptr, both, torch.zeros(both_ptr.numel() - 1, dtype=torch.int64), 2)],
        **{
            f"count_{kind}s": [
                (
                    *(both_ptr, both, torch.tensor([0, 15]), 4, *options, of_slots),
                    *(none.new_zeros(both.numel() if of_slots else 15, 4), none.new_zeros(4), 2),
                )
                for of_slots in (False, True)
            ]
            for kind, options in {
                "cycle": (False,),
                "clique": (),
                "path": (True,),
                "star": (),
            }.items()
        },
        "edge_cycles": [
            (both_ptr, both, none.new_zeros(3, both.numel()), none.new_zeros(4), 2),
        ],
        "ollivier": [
            (both_ptr, both, weight, alpha, torch.zeros_like(both, dtype=F64), none.new_zeros(4), 2)
            for weight in (None, torch.ones_like(both, dtype=F64))
            for alpha in (0.01, 0.5)
        ],
        "rewired": [
            (
                *(both_ptr, both, torch.tensor([0, 15]), torch.full((1, 3), 0.5, dtype=F64)),
                *(1.0, removes, 0.5, none.new_zeros(4), 2),
            )
            for removes in (False, True)
        ],
        "length_order": [
            (
                *(rowptr, col, torch.ones_like(col, dtype=F64), torch.rand(k, 15, dtype=F64)),
                *(torch.zeros(k, 15, dtype=torch.int32), torch.zeros(4, dtype=torch.int64), 2),
            )
            for k in (3, 0)
        ],
        "divide": [
            (*divided, torch.zeros(3, dtype=F64), 0.5, True, torch.zeros(4, dtype=torch.int64), 2)
        ],
        "pair_matrices": [
            (
                *own,
                *(torch.zeros(1, 16, 16, dtype=kind), none.new_zeros(1, 16, 16, room)),
                *(-1.0, -2.0, torch.zeros(4, dtype=torch.int64), 2),
            )
            for own, kind, room in zip(listed, (torch.int8, torch.float32), (0, 3), strict=True)
        ],
        "pair_counts": [
            (*own, none.new_zeros(15), torch.zeros(4, dtype=torch.int64), 2)
            for own in ranked
            if len(own) == 5
        ],
        "pair_list": [
            (
                *(*own, 15 * torch.arange(15), none.new_zeros(2, 225), none.new_zeros(225)),
                *(none.new_zeros(225, 2), torch.zeros(4, dtype=torch.int64), 2),
            )
            for own in listed
        ],
        "nearest_members": [
            (
                *own[:5],
                *(torch.ones(15, 3, dtype=torch.bool), torch.zeros(15, 3, dtype=kind)),
                *(none.new_zeros(15, 3), torch.zeros(4, dtype=torch.int64), 2),
            )
            for own, kind in zip(listed, (torch.int32, F64), strict=True)
        ],
        "clusters": [(both_ptr, both, 4), (none.new_zeros(1), col[:0], 4)],
        "distance_sums": searches(
            lambda k: torch.ones(k, dtype=torch.int32),
            lambda k: torch.zeros(15, 4, dtype=F64),
            lambda k: torch.zeros(15, dtype=torch.int32),
            lambda k: torch.zeros(16, dtype=torch.int64),
        ),
        "source_sums": searches(
            lambda k: torch.zeros(k, 4, dtype=F64), lambda k: torch.zeros(k, dtype=torch.int32)
        ),
        "distances": [
            arguments + place
            for arguments in searches(lambda k: torch.zeros(k, 15, dtype=torch.int8))
            for place in ((), (torch.arange(arguments[4].numel()).flip(0),))
        ],
        "sample_paths": [
            (
                *(rowptr, col, colptr, row, 5, 3, 40),
                *(torch.zeros(15, dtype=torch.int64), torch.zeros(4, dtype=torch.int64), 2),
            )
        ],
        "draw_paths": [
            (
                *(rowptr, col, colptr, row, 5, 3, size),
                *(torch.zeros(size, dtype=torch.int64), torch.zeros(4, dtype=torch.int64), 2),
                pairs,
            )
            for size, pairs in ((40, None), (2, torch.tensor([[0, 3], [4, 2]])))
        ],
        "path_dependency": [
            *counted,
            *(
                (*begun, torch.zeros(2, scores.numel(), dtype=F64), *plan, None, limits)
                for *begun, scores, control, measure, engine, rung, launch in counted
                for plan in [(control, measure, engine, rung, launch)]
                for limits in [torch.tensor([1, 3])]
            ),
        ],
        "reference_dependency": [
            (
                *(rowptr, col, weight, torch.arange(15), ones, ones, ones, ones),
                *(torch.zeros(2, size, dtype=F64), torch.zeros(4, dtype=torch.int64)),
                *(torch.tensor([1.0, 3.0], dtype=F64), measure, 0.0),
            )
            for weight in (ones[:0], torch.ones_like(col, dtype=F64))
            for measure, size in ((0, 15), (1, col.numel()), (2, 15))
        ],
        "reference_sums": [
            (
                *(rowptr, col, weight, torch.arange(15), torch.zeros(15, 4, dtype=F64)),
                *(torch.zeros(15, dtype=F64), torch.zeros(4, dtype=torch.int64)),
                *(torch.full((1,), torch.inf, dtype=F64), of_sources),
            )
            for weight in (ones[:0], torch.ones_like(col, dtype=F64))
            for of_sources in (False, True)
        ],
        "hierarchy_cells": [(*hierarchy[1:4], hierarchy[7])],
        "hierarchy_dependency": [
            (
                *((*hierarchy[:6], *hierarchy[7:], *cells), torch.arange(15), ones, ones),
                *(torch.zeros((1 + both) * hierarchy[2].numel() + 15, dtype=F64),),
                *(torch.zeros(4, dtype=torch.int64), both, paths, 8, 0, 2),
            )
            for both, paths in ((False, False), (True, False), (False, True))
        ],
        "hierarchy_scores": [
            (
                *(*hierarchy[:7], cells[1]),
                torch.ones((1 + (back is not None)) * hierarchy[2].numel() + 15, dtype=F64),
                back,
            )
            for back in (None, ops.reverse_slots(both_ptr, both))
        ],
        "chain_dependency": [
            (
                ops.chains(both_ptr, both, None, 4)[:8],
                *(slots, torch.arange(15), ones, ones),
                *(torch.zeros(15 if slots is None else both.numel(), dtype=F64),),
                *(torch.zeros(4, dtype=torch.int64), True, together, 4, 1, 2),
            )
            for slots in (None, ops.chains(both_ptr, both, None, 4)[8])
            for together in (False, True)
        ],
        **weighted,
        "tiny": [
            (
                *((rowptr, col, weight, torch.tensor([0, 15, 15])), torch.tensor([0, 1])),
                *(torch.tensor([[2, 15, col.numel()]]), mark, weight[:0]),
                *(torch.zeros(size, dtype=F64) for size in (15, 15, col.numel())),
                *(torch.zeros(15, 6, dtype=F64), torch.zeros(levels, dtype=torch.int64)),
                *(torch.zeros(2, dtype=torch.int8), torch.zeros(4, dtype=torch.int64)),
                *(False, 0.0, 2),
            )
            for weight, mark, levels in (
                (torch.empty(0, dtype=F64), torch.empty(0, dtype=F64), 15),
                (torch.ones_like(col, dtype=F64), torch.ones(15, dtype=F64), 0),
            )
        ],
        "closure": [
            (*closed, *(torch.zeros(k, dtype=torch.int64) for k in (24, 4, 4)), 2),
        ],
        "mcl_iterate": [
            (
                *(torch.arange(n), torch.ones(n, dtype=torch.int32)),
                *(torch.arange(n, dtype=torch.int32), torch.ones(n)),
                *(torch.zeros(4, dtype=torch.int64), 2, 2.0, 1e-4, 1100, 1400, 0.9, 2),
            )
            for n in (4, 0)
        ],
    }


# engine and rung of the ladder that it starts on: float32, float64, wide
KERNELS = {
    "lanes float32": (0, 0),
    "lanes float64": (0, 1),
    "lanes wide": (0, 2),
    "queue float64": (1, 1),
    "queue wide": (1, 2),
}
PRECISION = {"float32": 1e-5, "float64": 1e-9, "wide": 1e-5}


def test_no_operator_is_left_out():
    names = {
        name.removeprefix("torchcent::")
        for name in torch._C._dispatch_get_all_op_names()
        if name.startswith("torchcent::")
    }
    # Written in Python: test_functional.py, test_functional_pairs.py.
    of_models = {"pairs", "scores", "shortest_path_matrices"}
    assert names - of_models - ONLY_ON_CUDA == set(samples())


@pytest.mark.each
@pytest.mark.parametrize("name", list(samples()))
def test_opcheck(name, request):
    """Tracing takes nearly all of the time: where only a part of the sweeps is run, one sample of
    each operator is traced, which the seed chooses."""
    operator = getattr(ops, name).default
    # A bool that depends on the data has no fake: such an operator breaks a graph of torch.compile.
    has_fake = name != "symmetric"
    known = samples()[name]
    whole = request.config.option.part == 1
    traced = known if whole else [random.choice(known)]
    for arguments in known:
        torch.library.opcheck(operator, arguments, test_utils=QUICK if has_fake else QUICK[:2])
    for arguments in traced if has_fake else ():
        torch.library.opcheck(operator, arguments, test_utils=TRACED)


# --- what path_dependency adds, with weights of all kinds


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("threads", [1, 3])
@given(data=st.data(), measure=st.sampled_from(["betweenness", "edge_betweenness", "stress"]))
@settings(max_examples=60)
def test_weights(kernel, threads, data, measure):
    n, arcs = data.draw(arc_lists().filter(lambda graph: graph[0] > 0))
    graph = torchcent.Graph.from_edge_index(edge_index(arcs), n)
    slots = list(zip(*graph.to_edge_index().tolist(), strict=True))
    sources = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
    weight = st.one_of(
        st.just([1] * n), st.just([0] * n), st.lists(st.integers(0, 5), min_size=n, max_size=n)
    )
    a, c, b, h = (data.draw(weight, label=name) for name in "acbh")
    expected = oracles.weighted_sums(measure, n, arcs, slots, sources, a, c, b, h)
    scores = torch.full((len(expected),), 7.0, dtype=F64)
    control = torch.zeros(4, dtype=torch.int64)
    engine, rung = KERNELS[kernel]
    used = ops.path_dependency(
        (graph.rowptr, graph.col, *graph.transpose),
        torch.tensor(sources),
        torch.tensor([a[s] for s in sources], dtype=F64),
        torch.tensor([c[s] for s in sources], dtype=F64),
        torch.tensor(b, dtype=F64),
        torch.tensor(h, dtype=F64),
        scores,
        control,
        ["betweenness", "edge_betweenness", "stress"].index(measure),
        engine,
        rung,
        Launch(threads),
    )
    assert used.tolist() == [rung]
    assert control.tolist() == [0, len(sources), 0, 0]
    torch.testing.assert_close(
        scores,
        torch.tensor([float(7 + score) for score in expected], dtype=F64),
        rtol=PRECISION[kernel.split()[1]],
        atol=1e-12,
    )


# --- cancellation


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_cancelled_run_stops(kernel):
    n = 50
    rowptr, col, _ = ops.csr(edge_index(random_graph(n, 200, seed=2)).int(), n, True)
    scores = torch.zeros(n, dtype=F64)
    control = torch.tensor([1, 0, 0, 0])
    one, zero = torch.ones(n, dtype=F64), torch.zeros(n, dtype=F64)
    arcs = rowptr, col, rowptr, col
    arguments = (arcs, torch.arange(n), one, zero, one, zero, scores, control)
    ops.path_dependency(*arguments, 0, *KERNELS[kernel], Launch(2))
    assert control.tolist() == [1, 0, 0, 0]
    assert scores.tolist() == [0.0] * n


def test_a_cancelled_closure_stops():
    rowptr, col, _ = ops.csr(
        torch.stack([torch.arange(1, 1000), torch.arange(999)]).int(), 1000, False
    )
    words, reached = torch.zeros(8 * 1500, dtype=torch.int64), torch.zeros(1000, dtype=torch.int64)
    control, base = torch.tensor([1, 0, 0, 0]), torch.tensor([-8, 8 * (999 - 512)])
    ops.closure(rowptr, col, torch.ones_like(reached), base, 1, 999, words, reached, control, 2)
    assert control.tolist() == [1, 0, 0, 0]
    assert not reached.any() and not words.any()


def test_a_cancelled_division_stops():
    arguments = samples()["divide"][0]
    control = torch.tensor([1, 0, 0, 0])
    assert ops.divide(*arguments[:-2], control, 2).tolist() == []
    assert control.tolist() == [1, 0, 0, 0]


GRAPH = """
generator = torch.Generator().manual_seed(0)
engine, n = sys.argv[1], 200_000
if engine == "queue":  # long paths
    side = 450
    at = torch.arange(side * side).reshape(side, side)
    arcs = torch.cat([torch.stack([at[:, 1:].flatten(), at[:, :-1].flatten()]),
                      torch.stack([at[1:].flatten(), at[:-1].flatten()])], dim=1)
else:
    arcs = torch.randint(0, n, (2, 10 * n), generator=generator)
graph = torchcent.Graph.from_edge_index(arcs, directed=False)
# All that is prepared once.
torchcent.betweenness(graph, sources=2, run=torchcent.Run(engine=engine))
"""


@pytest.mark.slow
@pytest.mark.sweep(cases=1)
@pytest.mark.parametrize("engine", ["lanes", "queue", "tensor"])
def test_interrupt(engine):
    assert_stops(
        GRAPH,
        "torchcent.betweenness(graph, run=torchcent.Run(engine=engine, progress=False))",
        engine,
    )


@pytest.mark.slow
def test_interrupt_of_a_division():
    graph = "import networkx as nx, torchcent.nx\ngraph = nx.gnm_random_graph(2000, 20000, seed=1)"
    run = "next(nx.community.girvan_newman(graph, backend='torchcent'))"
    assert_stops(graph, run)
