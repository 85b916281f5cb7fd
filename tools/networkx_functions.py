"""Tells NetworkX which functions torchcent/nx declares: `python tools/networkx_functions.py`.

NetworkX reads `_torchcent_networkx.py` whenever it is imported, which must not import PyTorch, and
so cannot read the declarations. Between two lines of that file, this writes what they say.
"""

import json
from pathlib import Path

from torchcent.nx import FUNCTIONS

FILE = Path(__file__).resolve().parents[1] / "_torchcent_networkx.py"
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


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
