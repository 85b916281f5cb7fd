"""The arithmetic of memory on CUDA, which needs none: figures of an H200 stand beside it."""

import pytest
import torch
from internals import Building, bytes_to_scale, bytes_to_transpose
from tuning import Tuning

import torchcent
from torchcent.engines.plan import _flight, _room

MIB = 2**20


@pytest.mark.parametrize(
    ("sizes", "taken"),
    [
        ([], 0), ([0], 0), ([1], 512), ([512, 513], 3 * 512), ([9 * MIB + 1], 9 * MIB + 512),
        ([10 * MIB], 10 * MIB), ([11 * MIB], 12 * MIB), ([11 * MIB - 512], 11 * MIB - 512),
        ([13 * MIB + 1, 1], 14 * MIB + 512),
    ],
)  # fmt: skip
def test_allocated(sizes: list[int], taken: int) -> None:
    assert _room.allocated(*sizes) == taken


def test_levels_are_those_of_the_kernels() -> None:
    """lanes.cuh: as long as the deepest level reached is the last one there is, half as many."""
    for depth in range(200):
        there = 8
        while depth >= there - 1:
            there += there // 2
        assert sum(_flight.levels(depth)) == there


@pytest.mark.parametrize(
    ("slots", "symmetric", "peak"),
    [
        (631_212, False, 30_654_464), (9_999_941, False, 480_000_000),
        (29_999_976, False, 911_088_640), (863_670, True, 35_093_504),
        (19_999_754, True, 671_088_640), (59_999_980, True, 720_000_000),
    ],
)  # fmt: skip
def test_scaled_weights(slots: int, symmetric: bool, peak: int) -> None:
    assert peak - 2 * MIB <= bytes_to_scale(slots, symmetric) <= 1.09 * peak


def test_transposes() -> None:
    """Two words for each arc that are sorted, pointers; 10^6 vertices took 14.6 bytes per arc and
    16 per vertex."""
    assert bytes_to_transpose(10**6, 10**7) == 16 * 10**7 + 16 * 10**6


# Peaks of building on an H200, and whether the estimate is close: how many slots duplicates
# leave is not known before, and what tiny graphs need for workspace is a bound.
BUILT = [
    (1000, 10**6, False, False, 24_184_832, True), (1000, 10**6, True, True, 49_917_440, False),
    (10**6, 10**7, False, True, 378_000_384, True), (10**6, 10**7, True, False, 403_567_104, True),
    (5 * 10**6, 5 * 10**6, False, False, 140_972_032, True),
    (4 * 10**6, 10**8, True, False, 4_035_905_536, True),
    (10**7, 3 * 10**7, True, True, 2_251_671_552, True),
    (10**6, 10**8, False, False, 2_417_789_440, True), (300, 8508, False, True, 313_344, False),
]  # fmt: skip


@pytest.mark.parametrize(("nodes", "columns", "symmetric", "weighted", "peak", "tight"), BUILT)
def test_building(
    nodes: int, columns: int, symmetric: bool, weighted: bool, peak: int, tight: bool
) -> None:
    needed = Building(columns, symmetric, weighted, torch.device("cuda"), None).needed(nodes)
    assert peak <= needed
    assert needed <= (1.2 if tight else 1.5) * peak


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "CUDA out of memory. Tried to allocate 310.00 MiB. GPU 1 has a total capacity of "
            "139.80 GiB of which 213.12 MiB is free.",
            "did not grant 310.00 MiB, with 213.0 MiB free on cuda:1",
        ),
        ("sort: out of memory", "did not grant memory, with 213.0 MiB free on cuda:0"),
    ],
)
def test_a_gpu_that_runs_out(
    text: str, said: str, monkeypatch: pytest.MonkeyPatch, tuning: Tuning
) -> None:
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    tuning(free_memory=lambda device: 213 * MIB if device.type == "cuda" else 0)

    def fails(*_: object) -> None:
        raise torch.OutOfMemoryError(text) if "CUDA" in text else RuntimeError(text)

    tuning(csr=fails)
    with pytest.raises(MemoryError, match=said):
        torchcent.betweenness(torch.tensor([[0], [1]]))
