"""Runs the public tests on the torchcent that is installed, away from the checkout, on any system:
`python tools/test_wheel.py [--part 0.05] [--jobs 2] [NAME ...]`, of tests/test_NAME.py."""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = (
    *("ops", "mcl_ops", "betweenness", "edge_betweenness", "stress", "weighted", "distances"),
    *("batch", "percolation", "weighted_ends", "tensor", "sampling"),
)
SHOW = (
    "import torch, torchcent; print(torch.__version__, torchcent.__file__, torchcent.show_config())"
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", default=list(TESTS))
    parser.add_argument("--part", default="0.05", help="of the large sweeps (tests/parts.py)")
    parser.add_argument("--jobs", default="0", help="processes of pytest-xdist")
    options = parser.parse_args()
    root = Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(root / "tests", Path(folder, "tests"))
        files = [f"tests/test_{name}.py" for name in options.names]
        python = (sys.executable, "-P")
        pytest = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", options.jobs)
        for command in (
            (*python, "-W", "error::RuntimeWarning", "-c", SHOW),
            (*python, *pytest, "--part", options.part, *files),
        ):
            if status := subprocess.run(command, cwd=folder).returncode:
                return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
