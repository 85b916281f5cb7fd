"""One seed for everything that the tests draw at random: `pytest --seed 7`.

It chooses the cases of a part of the sweeps (parts.py), the examples of Hypothesis and the numbers
of the generators of Python, NumPy and PyTorch that a test does not seed by itself. By default it is
taken from the commit, so that a commit has one outcome and the next one draws anew. The header of a
run prints it. Every test, and every case of one, draws from the seed and its own name alone: with
any number of processes, whichever tests run beside it, with or without CI in the environment, and
without a database of earlier failures.
"""

import hashlib
import os
import random
import subprocess
import sys
from collections.abc import Generator
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from hypothesis import HealthCheck, register_random, settings
from hypothesis.internal import constants_ast
from hypothesis.internal.conjecture import providers

VARIABLE = "TORCHCENT_TEST_SEED"
WITHOUT_COMMIT = 1  # where the sources are no clone
SEEDS = 10**6

settings.register_profile(
    "torchcent",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    # With CI in the environment Hypothesis would draw the same examples always.
    derandomize=False,
    database=None,
    print_blob=True,
)
settings.load_profile("torchcent")


# Sorted sets: the order of others is another one in every process. They are slow to join.
_NONE = providers._local_constants


_KEPT = Path(__file__).parent / "__pycache__" / "constants.txt"


@cache
def _constants() -> constants_ast.Constants:
    """Numbers and words of the package, of which Hypothesis draws some as examples: of all its
    modules, and not of those that happen to be imported so far.

    To find them takes seconds, in each process of the tests: they are kept with a hash of the
    sources."""
    spec = find_spec("torchcent")
    folders = (spec and spec.submodule_search_locations) or ()
    files = [file for folder in folders for file in sorted(Path(folder).rglob("*.py"))]
    sources = [file.read_bytes() for file in files]
    known = hashlib.sha256(b"\0".join([hypothesis.__version__.encode(), *sources])).hexdigest()
    with suppress(OSError):
        mark, kept = _KEPT.read_text(encoding="utf-8").split("\n", 1)
        if mark == known:
            return _NONE | constants_ast._constants_from_source(kept, limit=False)
    constants = constants_ast.Constants()
    for source in sources:
        constants |= constants_ast._constants_from_source(source, limit=True)
    with suppress(OSError):
        _KEPT.parent.mkdir(exist_ok=True)
        part = _KEPT.with_suffix(f".{os.getpid()}")
        text = constants_ast._constants_file_str(constants)
        part.write_text(f"{known}\n{text}", encoding="utf-8")
        part.replace(_KEPT)
    return _NONE | constants


providers._get_local_constants = _constants


class _Torch:
    """PyTorch's generator, in the form in which Hypothesis resets it before each example."""

    def seed(self, number: int) -> None:
        sys.modules["torch"].manual_seed(number)

    def getstate(self) -> object:
        return sys.modules["torch"].get_rng_state()

    def setstate(self, state: object) -> None:
        sys.modules["torch"].set_rng_state(state)


_TORCH = _Torch()
if "torch" in sys.modules:
    register_random(_TORCH)


def of_commit() -> int:
    """The seed of the commit that is checked out."""
    root = Path(__file__).resolve().parents[1]
    if not (root / ".git").exists():  # a repository further up is another one
        return WITHOUT_COMMIT
    command = ["git", "-C", str(root), "rev-parse", "HEAD"]
    try:
        commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return int(commit, 16) % SEEDS
    except (OSError, subprocess.CalledProcessError, ValueError):
        return WITHOUT_COMMIT


def add_option(group: pytest.OptionGroup) -> None:
    group.addoption(
        "--seed",
        type=int,
        default=None,
        help=f"of all that is drawn at random; default: {VARIABLE}, or from the commit",
    )


def settle(config: pytest.Config) -> None:
    """Leaves the seed in the options, from which the workers of xdist have it."""
    if getattr(config.option, "hypothesis_seed", None) is not None:
        raise pytest.UsageError("--hypothesis-seed: --seed is the seed of all that is random here")
    if config.option.seed is None:
        text = os.environ.get(VARIABLE) or str(of_commit())
        if not text.isascii() or not text.isdigit():
            raise pytest.UsageError(f"{VARIABLE}={text!r}; accepted: a whole number from 0")
        config.option.seed = int(text)
    if config.option.seed < 0:
        raise pytest.UsageError(f"--seed {config.option.seed}; accepted: a whole number from 0")


def header(config: pytest.Config) -> str:
    seed = config.option.seed
    return f"random choices: --seed {seed} repeats them (or {VARIABLE}={seed})"


def of_item(seed: int, item: pytest.Item) -> int:
    """64 bits, other ones for every case of every test."""
    return int.from_bytes(hashlib.sha256(f"{seed} {item.nodeid}".encode()).digest()[:8])


def hypothesis_function(item: pytest.Item) -> object | None:
    """The function on which Hypothesis keeps its settings and seed, which cases share."""
    function = getattr(item, "obj", None)
    if not getattr(function, "is_hypothesis_test", False):
        return None
    return getattr(function, "__func__", function)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    seed = of_item(item.config.option.seed, item)
    random.seed(seed)
    np.random.seed(seed % 2**32)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)
    if function := hypothesis_function(item):
        function._hypothesis_internal_use_seed = seed  # type: ignore[attr-defined]
    return (yield)
