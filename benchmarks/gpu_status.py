"""Did all tests of these sources pass on a GPU? Exits 1 if not, on any. Needs no PyTorch.

python benchmarks/gpu_status.py benchmarks/results/h200.json
"""

import hashlib
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Sources that run before there is a graph on a device or after its result has left it.
ON_THE_HOST = ("csrc/io", "torchcent/io", "torchcent/cli", "torchcent/nx", "torchcent/plots")


def digest() -> str:
    """Of everything that a device runs: a result counts only for these sources."""
    total = hashlib.sha256()
    files = [*ROOT.glob("csrc/**/*"), *ROOT.glob("torchcent/**/*.py"), ROOT / "tools/kernels.py"]
    elsewhere = tuple(ROOT / name for name in ON_THE_HOST)
    for file in sorted(file for file in files if file.is_file()):
        if any(folder in file.parents for folder in elsewhere):
            continue
        total.update(f"{file.relative_to(ROOT).as_posix()}\0".encode() + file.read_bytes())
    return total.hexdigest()


def passed(file: Path, here: str) -> bool | None:
    """Prints what a file has of these sources. Returns whether all tests of them passed on that
    GPU, or None if they did not run there."""
    known = json.loads(file.read_text()) if file.exists() else {}
    older = [name for name, there in known.get("digests", {}).items() if there != here]
    tested = "tests" in known and "tests" not in older
    print(f"{file.name}: tests {'current' if tested else 'not of these sources'}", end="; ")
    print(known.get("tests"), f"tables of older sources: {', '.join(older) or 'none'}", sep="; ")
    return not known["tests"]["failed"] if tested else None


def main() -> int:
    here = digest()
    found = [passed(Path(name), here) for name in sys.argv[1:]]
    if not found:
        print("no results of a GPU")
    return 0 if True in found and False not in found else 1


if __name__ == "__main__":
    sys.exit(main())
