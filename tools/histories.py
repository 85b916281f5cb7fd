"""Long random histories of graphs that change, compared with scores of new graphs.

    python tools/histories.py --updates 100000

Histories are those of tests/histories.py: single changes and batches, of graphs of 30 to 60
vertices that fall apart, are joined again and grow. Every measure follows each of them.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import torch  # noqa: E402
from histories import History, followers, run_long  # noqa: E402

LENGTH = 2000  # updates of one graph
BETWEEN = 40  # updates between two comparisons


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--updates", type=int, default=10_000, help="of all graphs (10,000)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(1)
    begin, compared, left, seed = time.monotonic(), 0, args.updates, args.seed
    while left > 0:
        directed, chance = bool(seed % 2), random.Random(seed)
        history = History(chance.randint(30, 60), directed, chance)
        history.most = 60
        try:
            compared += run_long(history, followers(directed), min(left, LENGTH), BETWEEN)
        except BaseException:
            print(f"failed: --seed {seed}", file=sys.stderr)
            raise
        left, seed = left - LENGTH, seed + 1
    seconds = time.monotonic() - begin
    print(f"{args.updates:,} updates, {compared:,} equal scores, {seconds:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
