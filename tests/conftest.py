"""Fixtures: the engine under test, the number of threads, the reference data."""

import gc
import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from internals import has_kernel

# The tests share the cores with each other and with whatever else runs: let idle threads sleep
# instead of spin. It is read when torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
if worker := os.environ.get("PYTEST_XDIST_WORKER"):
    os.environ.setdefault("OMP_NUM_THREADS", "2")  # enough for threads to meet
    if cards := os.environ.get("TORCHCENT_TEST_CARDS", "").split():  # each worker sees one
        os.environ["CUDA_VISIBLE_DEVICES"] = cards[int(worker.removeprefix("gw")) % len(cards)]

import pytest
import torch
from counts import (  # noqa: F401  (hooks of pytest)
    pytest_deselected,
    pytest_sessionfinish,
    pytest_terminal_summary,
    pytest_testnodedown,
)
from engines import ENGINES, WEIGHTED
from files import FAST, irregular
from graphs import DEVICE
from parts import (  # noqa: F401  (hooks of pytest)
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_itemcollected,
    pytest_report_header,
)
from references import Golden, Graphs
from seeds import pytest_runtest_protocol  # noqa: F401
from tuning import Tuning, tuned

FUZZER = Path(__file__).resolve().parents[1] / "fuzz" / "arguments.py"


@pytest.fixture
def tuning(monkeypatch: pytest.MonkeyPatch) -> Tuning:
    """`tuning(inline=0)` sets a size that decides which way a run takes (tuning.py)."""
    return tuned(monkeypatch)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    if request.param != "tensor" and os.environ.get("TORCHCENT_NO_EXTENSION"):
        pytest.skip("TORCHCENT_NO_EXTENSION is set: only the tensor engine is there")
    return request.param


@pytest.fixture(params=["tensor", "bits", "queue", "tiny", "auto"])
def distance_engine(request: pytest.FixtureRequest, tuning: Tuning) -> str:
    """Of the distance measures; "auto" takes shortcuts of its own, here for small graphs, too."""
    if request.param == "bits" and not has_kernel("distance_sums", DEVICE):
        pytest.skip(f"the bits engine has no kernels for {DEVICE}")
    if request.param == "queue" and DEVICE.type != "cuda":
        pytest.skip("searches one by one are on CUDA")
    if request.param == "tiny" and not has_kernel("tiny", DEVICE):
        pytest.skip(f"the tiny engine has no kernels for {DEVICE}")
    if request.param == "auto":
        tuning(tiny_nodes=-1)
    return request.param


@pytest.fixture(params=["bits", "queue", "auto"])
def compiled_engine(request: pytest.FixtureRequest, tuning: Tuning) -> str:
    """For graphs on which the tensor engine would take minutes."""
    if not has_kernel("distance_sums", DEVICE):
        pytest.skip(f"the bits engine has no kernels for {DEVICE}")
    if request.param == "queue" and DEVICE.type != "cuda":
        pytest.skip("searches one by one are on CUDA")
    tuning(tiny_nodes=-1)
    return request.param


@pytest.fixture(params=WEIGHTED)
def weighted_engine(request: pytest.FixtureRequest, tuning: Tuning) -> str:
    """Of weighted graphs, for all measures; "auto" is not to take tiny."""
    compiled = has_kernel("weighted_dependency", DEVICE)
    if request.param in ("relax", "dijkstra", "tiny") and not compiled:
        pytest.skip(f"engine={request.param!r} has no kernels for {DEVICE}")
    if request.param == "auto":
        tuning(tiny_nodes=-1)
    return request.param


@pytest.fixture(params=[name for name in WEIGHTED if name != "tiny"])
def row_engine(request: pytest.FixtureRequest) -> str:
    """Of rows of weighted distances, which tiny has not."""
    if request.param in ("relax", "dijkstra") and not has_kernel("weighted_distances", DEVICE):
        pytest.skip(f"engine={request.param!r} has no kernels for {DEVICE}")
    return request.param


@pytest.fixture
def threads() -> Iterator[None]:
    """Lets a test change the number of threads."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def golden() -> Golden:
    """Reference results by other programs: `golden / "program/file"`."""
    return Golden()


@pytest.fixture(scope="session")
def load() -> Graphs:
    """The reader of the reference graphs: load.load(name) gives (scipy matrix, info)."""
    return Graphs()


@pytest.fixture(params=["all readers", "in memory", "line by line"])
def reader(request: pytest.FixtureRequest, tuning: Tuning) -> None:
    """Which readers of text there are: files are read alike with any of them."""
    fast = {"all readers": (), "in memory": ("streamed",), "line by line": FAST}[request.param]
    tuning(**dict.fromkeys(fast, irregular))


@pytest.fixture(scope="session")
def fuzzer() -> ModuleType:
    """fuzz/arguments.py, which has arguments that each public function accepts."""
    if not FUZZER.is_file():
        pytest.skip("the fuzzers (fuzz/ in the repository) are not here")
    spec = importlib.util.spec_from_file_location("fuzz_arguments", FUZZER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(FUZZER.parent))
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Python's collector of garbage would look again and again at what collection makes, of which
    there is no garbage: a third of its time, and half a second for each test that calls it."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()
