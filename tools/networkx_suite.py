"""NetworkX's own tests on the backend torchcent: `python tools/networkx_suite.py`.

Every call of a function that the backend has runs in it, without falling back to NetworkX; a test
that needs anything else (a function that it lacks, arguments that it refuses) counts as expected
to fail. How many calls ran in the backend is counted inside of it, and each of its functions must
have been called: tests that all fell back would pass as well.

A second run, with fallback, has the tests in which the backend is only a part, as girvan_newman.
"""

import os
import sys
from collections import Counter
from functools import wraps
from subprocess import run
from typing import Any

STRICT = [
    "networkx.algorithms.centrality.tests.test_betweenness_centrality",
    "networkx.algorithms.centrality.tests.test_betweenness_centrality_subset",
    "networkx.algorithms.centrality.tests.test_closeness_centrality",
    "networkx.algorithms.centrality.tests.test_harmonic_centrality",
    "networkx.algorithms.tests.test_dag",
    "networkx.algorithms.tests.test_distance_measures",
    "networkx.algorithms.shortest_paths.tests.test_generic",
    "networkx.algorithms.shortest_paths.tests.test_unweighted",
    "networkx.algorithms.shortest_paths.tests.test_weighted",
]
WITH_FALLBACK = [
    *STRICT,
    "networkx.algorithms.centrality",
    "networkx.algorithms.community.tests.test_centrality",
    "networkx.algorithms.tests.test_efficiency",
    "networkx.algorithms.tests.test_richclub",
    "networkx.algorithms.tests.test_smallworld",
    "networkx.algorithms.tests.test_wiener",
    "networkx.generators.tests.test_ego",
]
# Tests of these take NetworkX seconds, and run nothing of the backend.
SLOW = "not group and not percolation and not trophic and not dispersion and not voterank"


class Count:
    """A plugin of pytest: what ran in the backend, and what it refused."""

    def __init__(self) -> None:
        self.ran: Counter[str] = Counter()
        self.refused: Counter[tuple[str, str]] = Counter()
        self.outcomes: Counter[str] = Counter()

    def pytest_sessionstart(self) -> None:
        import torchcent.nx as backend
        from _torchcent_networkx import FUNCTIONS

        for name in FUNCTIONS:
            setattr(backend, name, self._counted(name, getattr(backend, name)))
        asked = backend.can_run

        def can_run(name: str, args: Any, kwargs: Any) -> bool | str:
            answer = asked(name, args, kwargs)
            if answer is not True:
                self.refused[name, str(answer)] += 1
            return answer

        backend.can_run = can_run

    def _counted(self, name: str, function: Any) -> Any:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            self.ran[name] += 1
            return function(*args, **kwargs)

        return call

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.failed:
            expected = report.skipped and hasattr(report, "wasxfail")
            self.outcomes["other functions or arguments" if expected else report.outcome] += 1

    def show(self, mode: str) -> None:
        import networkx

        from _torchcent_networkx import FUNCTIONS

        print(f"\nNetworkX {networkx.__version__}, {mode}: {dict(self.outcomes)}")
        print(f"calls that ran in the backend: {self.ran.total()}")
        for name in FUNCTIONS:
            print(f"{self.ran[name]:8} {name}")
        print(f"calls that the backend refused: {self.refused.total()}")
        for (name, why), times in sorted(self.refused.items()):
            print(f"{times:8} {name}: {why}")


def one_run(mode: str) -> int:
    import pytest

    count = Count()
    chosen = STRICT if mode == "strict" else WITH_FALLBACK
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-k", SLOW]
    status = pytest.main([*options, "--pyargs", *chosen], plugins=[count])
    count.show(mode)
    from _torchcent_networkx import FUNCTIONS

    idle = [name for name in FUNCTIONS if not count.ran[name]]
    if idle:
        print(f"never called: {', '.join(idle)}")
    return int(status) or int(mode == "strict" and bool(idle)) or int(not count.ran)


def main() -> int:
    if len(sys.argv) > 1:
        return one_run(sys.argv[1])
    status = 0
    for mode in ("strict", "fallback"):
        environment = {**os.environ, "NETWORKX_TEST_BACKEND": "torchcent"}
        environment.pop("NETWORKX_FALLBACK_TO_NX", None)
        if mode == "fallback":
            environment["NETWORKX_FALLBACK_TO_NX"] = "True"
        status |= run([sys.executable, __file__, mode], env=environment).returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
