"""Lines of the CPU kernels that ran, of gcovr's JSON: `make coverage`.

A line of a template counts once, if any of its instances ran; gcovr's own summary counts each
instance, of which every instruction set has its own.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path


def main() -> None:
    ran: dict[str, dict[int, bool]] = defaultdict(dict)
    for file in json.loads(Path(sys.argv[1]).read_text())["files"]:
        lines = ran[file["file"]]
        for line in file["lines"]:
            if not line.get("gcovr/noncode"):
                number = line["line_number"]
                lines[number] = lines.get(number, False) or line["count"] > 0
    for name, lines in sorted(ran.items()):
        missed = sorted(number for number, found in lines.items() if not found)
        if missed:
            print(f"{name:<44} {len(lines) - len(missed):>5} of {len(lines):>5}, not {missed}")
    total = sum(len(lines) for lines in ran.values())
    found = sum(sum(lines.values()) for lines in ran.values())
    print(f"kernels: {found} of {total} lines, {100 * found / max(total, 1):.1f}%")


if __name__ == "__main__":
    main()
