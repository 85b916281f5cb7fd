"""Tells NetworkX which functions torchcent/nx declares: `python tools/networkx_functions.py`.

NetworkX reads `_torchcent_networkx.py` whenever it is imported, which must not import PyTorch, and
so cannot read the declarations. Between two lines of that file, this writes what they say. It also
writes the row of docs/networkx.md with the functions that count shortest paths.
"""

import json
import re
from pathlib import Path

import networkx as nx

from torchcent.engines.measures._measures import MEASURES
from torchcent.nx import FUNCTIONS

ROOT = Path(__file__).resolve().parents[1]
FILE, PAGE = ROOT / "_torchcent_networkx.py", ROOT / "docs" / "networkx.md"
BEGIN, END = "# BEGIN: ", "# END\n"
WIDTH = 100


def text() -> str:
    """What the file should be."""
    above, _, below = FILE.read_text(encoding="utf-8").partition(BEGIN)
    title = below.partition("\n")[0]
    lines = [f"{BEGIN}{title}", "# fmt: off", "FUNCTIONS = {", *_entries(), "}", "# fmt: on"]
    return above + "\n".join(lines) + "\n" + END + below.partition(END)[2]


def _entries() -> list[str]:
    docs = {each.__name__: each.docs for each in FUNCTIONS.values()}
    entries = []
    for name in sorted(docs):
        key, value = f"    {json.dumps(name)}:", f"{json.dumps(docs[name])},"
        entries.append(f"{key} {value}")
        if len(entries[-1]) > WIDTH:
            entries[-1:] = [key, f"        {value}"]
    return entries


def page() -> str:
    """What docs/networkx.md should be."""
    of_paths = [each for each in FUNCTIONS.values() if _counts_paths(each.measure)]
    row = ", ".join(_shown(name) for name in sorted(each.name for each in of_paths))
    text = PAGE.read_text(encoding="utf-8")
    return re.sub(r"(?m)^\| betweenness \| .* \|$", f"| betweenness | {row} |", text)


def _counts_paths(measure: object) -> bool:
    return isinstance(measure, str) and measure in MEASURES and MEASURES[measure].family == "paths"


def _shown(name: str) -> str:
    """With the name in NetworkX's namespace, if it is another one."""
    named = [each.networkx for each in MEASURES.values() if each.networkx is not None]
    others = [f" (`{x.name}`)" for x in named if getattr(nx, x.name).name == name != x.name]
    return f"`{name}`" + "".join(others)


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
