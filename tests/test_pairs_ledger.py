"""All-pairs distances in files, with a ledger: what is stopped, damaged, moved or full."""

import builtins
import errno
import io
import os
import warnings

import numpy as np
import pytest
import torch
from internals import COMPILED, Ledger
from runs import PAIRS

import torchcent

pytestmark = pytest.mark.skipif(not COMPILED, reason="needs the compiled library")


class Stop(Exception):
    pass


@pytest.fixture
def stopping(monkeypatch):
    """`stopping(k)` lets the k-th unit that is recorded raise Stop; `stopping.kept` counts them."""

    def change(number):
        change.kept, change.at = 0, number

    for method in ("keep", "keep_unit"):
        real = getattr(Ledger, method)

        def keep(self, *args, real=real):
            change.kept += 1
            if change.kept == change.at:
                raise Stop
            real(self, *args)

        monkeypatch.setattr(Ledger, method, keep)
    change(None)
    return change


@pytest.fixture(params=["npy", "zarr"])
def stopped(request, tuning, stopping, tmp_path):
    """A run that was stopped after 7 of 24 units: the call that continues it, its temporary file,
    the file, and the expected distances."""
    if request.param == "zarr":
        pytest.importorskip("zarr")
    case, out = PAIRS["pairs"], tmp_path / f"out.{request.param}"
    tuning(**case.sizes)
    (expected,) = case()

    def call(**more):
        return case(**{"checkpoint": tmp_path / "ledger", "out": out} | more)[0]

    stopping(8)
    with pytest.raises(Stop):
        call()
    assert not out.exists()
    (temporary,) = tmp_path.glob(f".{out.name}.*.tmp")
    stopping(None)
    return call, temporary, out, expected


@pytest.mark.parametrize("name", PAIRS)
def test_continues(name, tuning, stopping, tmp_path):
    case = PAIRS[name]
    tuning(**case.sizes)
    expected = case()
    case(checkpoint=tmp_path / "whole")
    units = stopping.kept
    for at in (1, units // 2 + 1, units):
        stopping(at)
        with pytest.raises(Stop):
            case(checkpoint=tmp_path / f"{at}")
        stopping(None)
        assert all(map(torch.equal, case(checkpoint=tmp_path / f"{at}"), expected))
        assert stopping.kept == units - at + 1
        stopping(None)
        assert all(map(torch.equal, case(checkpoint=tmp_path / f"{at}"), expected))
        assert stopping.kept == 0


@pytest.mark.slow
def test_files_continue(stopped, stopping):
    call, temporary, out, expected = stopped
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert torch.equal(call(), expected)
        assert stopping.kept == 17
        assert out.exists() and not temporary.exists()
        assert torch.equal(call(), expected)  # the file itself is found whole
        assert stopping.kept == 17


@pytest.mark.slow
def test_widened_files_continue(tuning, stopping, tmp_path):
    case, out = PAIRS["pairs that are widened"], tmp_path / "out.npy"
    tuning(**case.sizes)
    (expected,) = case()
    assert expected.dtype == torch.int16
    case(checkpoint=tmp_path / "whole", out=tmp_path / "whole.npy")
    units = stopping.kept
    for at in range(1, units + 1):
        stopping(at)
        with pytest.raises(Stop):
            case(checkpoint=tmp_path / "ledger", out=out)
        stopping(None)
        (found,) = case(checkpoint=tmp_path / "ledger", out=out)
        assert torch.equal(found, expected) and stopping.kept <= units - at + 1
        assert not list(tmp_path.glob(".*.tmp"))
        out.unlink()
        for path in (tmp_path / "ledger").iterdir():
            path.unlink()


def test_changed_rows_are_named_and_made_again(stopped, stopping):
    call, temporary, out, expected = stopped
    if temporary.is_dir():
        (chunk,) = [each for each in temporary.rglob("0") if each.parent.name == "3"]
        chunk.unlink()  # its rows are zeros now
    else:
        found = np.lib.format.open_memmap(temporary, "r+")
        found[found.any(1), 3] = 77
        del found
    with pytest.warns(RuntimeWarning, match=r"does not hold the distances from vertex \d+") as told:
        assert torch.equal(call(), expected)
    assert len(told) == 1
    # What comes before the rows of the chunk is not computed again.
    assert stopping.kept == (21 if out.suffix == ".zarr" else 24)


def test_a_truncated_file(stopped, stopping):
    call, temporary, _, expected = stopped
    if temporary.is_dir():
        (temporary / "zarr.json").unlink()
    else:
        os.truncate(temporary, 100_000)
    with pytest.warns(RuntimeWarning, match="does not hold the distances from vertex"):
        assert torch.equal(call(), expected)
    assert stopping.kept == 24


def test_another_file(stopped, stopping, tmp_path):
    """Has none of the rows."""
    call, temporary, out, expected = stopped
    with pytest.warns(RuntimeWarning, match="does not hold the distances"):
        assert torch.equal(call(out=tmp_path / f"other{out.suffix}"), expected)
    assert stopping.kept == 24 and temporary.exists() and not out.exists()


@pytest.mark.slow
def test_a_result_that_was_changed(stopped, stopping):
    call, _, out, expected = stopped
    call()
    stopping(None)
    if out.suffix == ".npy":
        found = np.load(out, mmap_mode="r+")
    else:
        found = pytest.importorskip("zarr").open_array(str(out), mode="r+")
    found[1400, 3] = 77
    del found
    with pytest.warns(RuntimeWarning, match="does not hold the distances from vertex"):
        assert torch.equal(call(), expected)
    assert stopping.kept == 24


@pytest.mark.parametrize("more", [{"dtype": torch.int32}, {"out": None}])
def test_what_is_refused(stopped, more):
    call, _, _, _ = stopped
    with pytest.raises(ValueError, match="search-000.npz is of another run: .*(dtype|out) is"):
        call(**more)


def test_a_full_disk(tuning, stopping, monkeypatch, tmp_path):
    case, out = PAIRS["pairs"], tmp_path / "out.npy"
    tuning(**case.sizes)
    (expected,) = case()
    left = [600]

    class Full(io.FileIO):
        def write(self, data):
            left[0] -= 1
            if left[0] < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(data)

    real = open

    def opened(file, mode="r", *args, **more):
        return Full(file, mode) if mode == "r+b" else real(file, mode, *args, **more)

    with monkeypatch.context() as patch:
        patch.setattr(builtins, "open", opened)
        with pytest.raises(OSError, match=r"No space left on device: .*out.npy.*tmp"):
            case(checkpoint=tmp_path / "ledger", out=out)
    assert not out.exists()
    stopping(None)
    assert torch.equal(case(checkpoint=tmp_path / "ledger", out=out)[0], expected)
    assert 0 < stopping.kept < 24


@pytest.mark.parametrize("name", ["pairs", "pairs that are widened"])
def test_without_writes_at_a_place(name, tuning, stopping, monkeypatch, tmp_path):
    """Windows has neither pwrite nor preadv."""
    case, out = PAIRS[name], tmp_path / "out.npy"
    tuning(**case.sizes)
    (expected,) = case()
    for missing in ("pwrite", "pwritev", "pread", "preadv"):
        monkeypatch.delattr(os, missing, raising=False)
    stopping(4)
    with pytest.raises(Stop):
        case(checkpoint=tmp_path / "ledger", out=out)
    stopping(None)
    assert torch.equal(case(checkpoint=tmp_path / "ledger", out=out)[0], expected)
    assert np.array_equal(np.load(out), expected.numpy())


def test_distances_too_long_for_the_dtype(tuning, tmp_path):
    case = PAIRS["pairs that are widened"]
    tuning(**case.sizes)
    for more in (
        {"checkpoint": tmp_path / "a"},
        {"checkpoint": tmp_path / "b", "out": tmp_path / "o.npy"},
    ):
        with pytest.raises(OverflowError, match="distance of 1.. from vertex .* does not fit"):
            case(dtype=torch.int8, **more)
    assert not (tmp_path / "o.npy").exists()


def test_zarr_of_others_is_not_replaced(tmp_path):
    pytest.importorskip("zarr")
    arcs = torch.tensor([[0, 1, 2], [1, 2, 3]])
    (tmp_path / "mine.zarr").mkdir()
    (tmp_path / "mine.zarr" / "notes").touch()
    with pytest.raises(ValueError, match="holds something else than a Zarr array"):
        torchcent.shortest_path_lengths(arcs, out=tmp_path / "mine.zarr")
    for _ in range(2):
        found = torchcent.shortest_path_lengths(arcs, out=tmp_path / "new.zarr")
        assert found[:].tolist() == torchcent.shortest_path_lengths(arcs).tolist()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mine.zarr", "new.zarr"]
