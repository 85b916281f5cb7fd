"""NetworkX's own tests on the backend torchcent: `python tools/networkx_suite.py`.

Two runs, side by side:

- strict: nothing falls back to NetworkX. A test that needs what the backend has not, a function or
  arguments that it refuses, counts as expected to fail.
- fallback: what the backend has not is NetworkX's. Tests which build their graphs with such
  functions then run as well, and those in which the backend is only a part, as closeness_vitality.

A test passes as well if all of it fell back. So what ran in the backend is counted inside of it.
Each of its functions must have been called, and none may have given up after it said that it can.
"""

import os
import subprocess
import sys
from collections import Counter
from functools import wraps
from typing import Any

CENTRALITY = "networkx.algorithms.centrality"
DISTANCES = [
    "networkx.algorithms.tests.test_dag",
    "networkx.algorithms.tests.test_distance_measures",
    "networkx.algorithms.shortest_paths.tests.test_dense",
    "networkx.algorithms.shortest_paths.tests.test_generic",
    "networkx.algorithms.shortest_paths.tests.test_unweighted",
    "networkx.algorithms.shortest_paths.tests.test_weighted",
]
WALKS = [
    "networkx.algorithms.link_analysis.tests.test_hits",
    "networkx.algorithms.link_analysis.tests.test_pagerank",
    "networkx.algorithms.tests.test_cluster",
    "networkx.algorithms.tests.test_core",
]
TESTS = {
    "strict": [CENTRALITY, *DISTANCES, *WALKS],
    "fallback": [
        f"{CENTRALITY}.tests.test_betweenness_centrality",
        f"{CENTRALITY}.tests.test_betweenness_centrality_subset",
        f"{CENTRALITY}.tests.test_closeness_centrality",
        f"{CENTRALITY}.tests.test_current_flow_betweenness_centrality",
        f"{CENTRALITY}.tests.test_current_flow_betweenness_centrality_subset",
        f"{CENTRALITY}.tests.test_current_flow_closeness",
        f"{CENTRALITY}.tests.test_eigenvector_centrality",
        f"{CENTRALITY}.tests.test_group",
        f"{CENTRALITY}.tests.test_harmonic_centrality",
        f"{CENTRALITY}.tests.test_katz_centrality",
        f"{CENTRALITY}.tests.test_load_centrality",
        f"{CENTRALITY}.tests.test_percolation_centrality",
        f"{CENTRALITY}.tests.test_reaching",
        f"{CENTRALITY}.tests.test_subgraph",
        *DISTANCES,
        *WALKS,
        "networkx.algorithms.community.tests.test_centrality",
        "networkx.algorithms.community.tests.test_divisive",
        "networkx.algorithms.tests.test_efficiency",
        "networkx.algorithms.tests.test_wiener",
    ],
}


class Count:
    """A plugin of pytest: what ran in the backend, and what it refused."""

    def __init__(self) -> None:
        self.ran: Counter[str] = Counter()
        self.refused: Counter[tuple[str, str]] = Counter()
        self.gave_up: list[str] = []
        self.outcomes: Counter[str] = Counter()

    def pytest_sessionstart(self) -> None:
        import torchcent.nx as backend
        from _torchcent_networkx import functions

        for name in functions():
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
            try:
                return function(*args, **kwargs)
            except NotImplementedError as error:
                self.gave_up.append(f"{name}: {error}")
                raise

        return call

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.failed:
            expected = report.skipped and hasattr(report, "wasxfail")
            self.outcomes["other functions or arguments" if expected else report.outcome] += 1

    def show(self, mode: str) -> None:
        import networkx

        from _torchcent_networkx import functions

        print(f"\nNetworkX {networkx.__version__}, {mode}: {dict(self.outcomes)}")
        print(f"calls that ran in the backend: {self.ran.total()}")
        for name in functions():
            print(f"{self.ran[name]:8} {name}")
        print(f"calls that the backend refused: {self.refused.total()}")
        for (name, why), times in sorted(self.refused.items()):
            print(f"{times:8} {name}: {why}")


def one_run(mode: str) -> int:
    import pytest

    from _torchcent_networkx import functions

    count = Count()
    options = ["-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", "--pyargs", *TESTS[mode]]
    status = int(pytest.main(options, plugins=[count]))
    count.show(mode)
    idle = [name for name in functions() if not count.ran[name]] if mode == "fallback" else []
    for name in idle:
        print(f"never called: {name}")
    for message in count.gave_up:
        print(f"gave up: {message}")
    return status or int(bool(idle or count.gave_up or not count.ran))


def main() -> int:
    if len(sys.argv) > 1:
        return one_run(sys.argv[1])
    environment = {**os.environ, "NETWORKX_TEST_BACKEND": "torchcent", "OMP_NUM_THREADS": "1"}
    environment.pop("NETWORKX_FALLBACK_TO_NX", None)
    strict, fallback = (
        subprocess.Popen(
            [sys.executable, __file__, mode], env={**environment, **more},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for mode, more in (("strict", {}), ("fallback", {"NETWORKX_FALLBACK_TO_NX": "True"}))
    )  # fmt: skip
    print(strict.communicate()[0], fallback.communicate()[0], sep="\n")
    return strict.returncode or fallback.returncode


if __name__ == "__main__":
    sys.exit(main())
