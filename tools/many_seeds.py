"""The tests that draw examples, with several seeds one after the other.

    python tools/many_seeds.py --number 20             # seeds from that of the commit on
    python tools/many_seeds.py --first 7 --number 1    # repeats one

A seed that failed is named at the end, with the command that repeats it; the exit status is then 1.
The seed chooses the examples of Hypothesis and, of sweeps, the cases (tests/seeds.py). The variable
CI is left out of the environment: tests may not depend on it.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))


def files() -> list[str]:
    """With tests that draw; the others need not be collected."""
    drawing = re.compile(r"^from hypothesis|^import hypothesis", re.MULTILINE)
    tests = sorted((ROOT / "tests").glob("test_*.py"))
    return [str(file.relative_to(ROOT)) for file in tests if drawing.search(file.read_text())]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--number", type=int, default=20, help="of seeds (20)")
    parser.add_argument("--first", type=int, help="default: that of the commit")
    parser.add_argument("--part", default="0.05", help="of each large sweep (0.05)")
    parser.add_argument("--select", default="property", help="marks of the tests (property)")
    parser.add_argument("--jobs", default=str(min(os.cpu_count() or 2, 8)), help="processes")
    given = parser.parse_args()
    first = given.first
    if first is None:
        from seeds import VARIABLE, of_commit

        first = int(os.environ.get(VARIABLE) or of_commit())
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    chosen = ["--part", given.part, "-m", given.select, "-n", given.jobs, "--dist", "worksteal"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen]
    failed = []
    for seed in range(first, first + given.number):
        begin = time.monotonic()
        run = subprocess.run(
            [*command, "--seed", str(seed), *files()],
            stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment, check=False,
        )  # fmt: skip
        said = run.stdout.splitlines() or [f"exit status {run.returncode}"]
        if run.returncode:
            failed.append(seed)
            print(run.stdout)
        print(f"seed {seed}: {said[-1]}, {time.monotonic() - begin:.0f} s", flush=True)
    print(f"{given.number - len(failed)} of {given.number} seeds passed")
    for seed in failed:
        again = ["python", "tools/many_seeds.py", "--first", str(seed), "--number", "1"]
        print(f"seed {seed} failed; again: {shlex.join([*again, '--part', given.part])}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
