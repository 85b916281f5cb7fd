"""The arithmetic of memory on CUDA, which needs none: figures of an H200 stand beside it."""

import pytest

from torchcent import _device, _room, _weights

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
        assert sum(_room.levels(depth)) == there


@pytest.mark.parametrize(
    ("slots", "symmetric", "peak"),
    [
        (631_212, False, 30_654_464), (9_999_941, False, 480_000_000),
        (29_999_976, False, 911_088_640), (863_670, True, 35_093_504),
        (19_999_754, True, 671_088_640), (59_999_980, True, 720_000_000),
    ],
)  # fmt: skip
def test_scaled_weights(slots: int, symmetric: bool, peak: int) -> None:
    assert peak - 2 * MIB <= _weights.bytes_to_scale(slots, symmetric) <= 1.09 * peak


def test_transposes() -> None:
    """Two words for each arc that are sorted, pointers; 10^6 vertices took 14.6 bytes per arc and
    16 per vertex."""
    assert _device.bytes_to_transpose(10**6, 10**7) == 16 * 10**7 + 16 * 10**6
