"""Do the results of the GPU belong to these sources? Exits 1 if not. Needs no PyTorch.

python benchmarks/gpu_status.py benchmarks/results/h200.json
"""

import hashlib
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def digest() -> str:
    """Of everything that runs: a result counts only for these sources."""
    total = hashlib.sha256()
    files = [*ROOT.glob("csrc/**/*"), *ROOT.glob("torchcent/**/*.py"), ROOT / "setup.py"]
    for file in sorted(file for file in files if file.is_file()):
        total.update(f"{file.relative_to(ROOT).as_posix()}\0".encode() + file.read_bytes())
    return total.hexdigest()


def main() -> int:
    file = Path(sys.argv[1])
    known = json.loads(file.read_text()) if file.exists() else {"digest": "", "tests": None}
    current = known["digest"] == digest()
    print(f"{file.name}: {'current' if current else 'not of these sources'}; {known['tests']}")
    return 0 if current and not known["tests"]["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
