"""tools/soak.py for some seconds, and that it would notice; `--seconds 3600` is run by hand."""

import importlib.util
import itertools
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch

ROOT = Path(__file__).resolve().parents[1]


def tool(name: str) -> ModuleType:
    """A script of tools/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(
    bool(os.environ.get("TORCHCENT_NO_EXTENSION")), reason="TORCHCENT_NO_EXTENSION: no engines"
)
@pytest.mark.slow
def test_some_seconds(request):
    """Twenty, or fewer where only a part of the sweeps is run."""
    whole = request.config.option.part == 1
    command = [sys.executable, "tools/soak.py", "--seconds", "20" if whole else "4"]
    command += ["--threads", "8"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    made, kinds = map(
        int, re.findall(r"^(\d+) calls of (\d+) kinds by 8 threads", done.stdout, re.M)[0]
    )
    assert made >= 8 and kinds > (250 if whole else 30)
    assert "other results or errors: 0" in done.stdout


def test_another_result_is_noticed():
    soak, count = tool("soak"), itertools.count()
    known = {"steady": lambda: torch.ones(2), "counts": lambda: torch.tensor(next(count))}
    run = soak.Soak(known, threads=2, seed=1)
    run.run(0.1)
    assert run.made["steady"] and run.made["counts"]
    assert len(run.differ) == run.made["counts"]
    assert set(run.differ) == {"counts: another result"}


def test_an_error_is_noticed():
    soak, calls = tool("soak"), itertools.count()

    def sometimes() -> torch.Tensor:
        if next(calls) == 3:
            raise RuntimeError("once")
        return torch.ones(2)

    run = soak.Soak({"sometimes": sometimes}, threads=1, seed=1)
    run.run(0.1)
    assert run.differ == ["sometimes: RuntimeError: once"]


@pytest.mark.parametrize(
    "value",
    [torch.tensor([1.0, float("nan")]), torch.nested.nested_tensor([torch.ones(2), torch.ones(1)])],
    ids=["nan", "nested"],
)
def test_results_are_compared_by_their_bits(value):
    plain = tool("soak").plain
    assert plain(value) == plain(value.clone())
    assert plain(value) != plain(value * 2)
    assert plain(torch.zeros(2)) != plain(-torch.zeros(2))
    assert plain(torch.zeros(2)) != plain(torch.zeros(2, dtype=torch.float64))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc")
def test_memory_that_grows_is_noticed(monkeypatch):
    soak = tool("soak")
    run = soak.Soak({"one": lambda: torch.ones(1)}, threads=1, seed=1)
    run.memory = [(float(second), 300.0 + second / 60) for second in range(600)]
    assert run.slope() == pytest.approx(60)  # a MiB a minute
    kept = []
    before = soak.resident()
    kept.append(bytearray(b"x" * (64 << 20)))
    assert soak.resident() - before == pytest.approx(64, abs=8)


REPORTS = {
    "ours": (
        "WARNING: ThreadSanitizer: data race\n    #0 f /a/csrc/tiny/cpu/tiny.cpp:8 (_C.abi3.so+1)",
        1,
    ),
    "theirs": ("WARNING: ThreadSanitizer: data race\n    #0 f <null> (libarrow.so.2600+1)", 0),
    "theirs on a stack that was ours": (
        "WARNING: ThreadSanitizer: data race (pid=1)\n  Write of size 8 at 0x7f by thread T18:\n"
        "    #0 memset <null> (libarrow.so.2600+1)\n\n  Previous write of size 8 by thread T27:\n"
        "    [failed to restore the stack]\n\n  Thread T27 (tid=5, finished) created by thread T24"
        " at:\n    #0 pthread_create\n    #1 f /a/csrc/tiny/cpu/tiny.cpp:8 (_C.abi3.so+1)\n",
        0,
    ),
    "ours in a thread of theirs": (
        "WARNING: ThreadSanitizer: data race (pid=1)\n  Write of size 8 at 0x7f by thread T18:\n"
        "    #0 f /a/csrc/tiny/cpu/tiny.cpp:8 (_C.abi3.so+1)\n\n  Thread T18 (tid=5, running)"
        " created by main thread at:\n    #0 pthread_create\n    #1 PyThread_start_new_thread\n",
        1,
    ),
    "overflow": ("ERROR: AddressSanitizer: heap-buffer-overflow\n    #0 memcpy\n    #1 numpy", 1),
    "undefined": ("/a/csrc/tiny/cpu/tiny.cpp:8:9: runtime error: division by zero\n    #0 f", 1),
    "our leak": (
        "Direct leak of 8 byte(s)\n    #0 operator new\n    #1 f /a/csrc/tiny/cpu/tiny.cpp:8",
        1,
    ),
    "their leak": ("Direct leak of 8 byte(s)\n    #0 malloc\n    #1 _PyObject_Malloc", 0),
}


@pytest.mark.parametrize("name", REPORTS)
def test_what_counts_as_a_report(tmp_path, name):
    text, count = REPORTS[name]
    (tmp_path / "report.123").write_text(f"=================\n{text}\n=================\n")
    assert len(tool("sanitize").reports(tmp_path)) == count
    joined = "\n\n".join(REPORTS[other][0] for other in ("their leak", "our leak", "their leak"))
    (tmp_path / "report.123").write_text(f"=======\nERROR: LeakSanitizer: leaks\n\n{joined}\n")
    assert len(tool("sanitize").reports(tmp_path)) == 1
