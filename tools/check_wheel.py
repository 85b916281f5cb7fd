"""Checks that a wheel runs where it says it does: `python tools/check_wheel.py dist/*.whl`.

- it is tagged py3-none, and holds the extension, py.typed and the headers for users;
- abi3audit finds nothing outside Python's limited API;
- the extension leaves only these symbols to others: PyTorch's stable C shims, and those of the C
  and C++ run-time libraries. One symbol of at::, c10:: or torch:: would tie the wheel to one
  version of PyTorch, one of Python's to its kind;
- unpacked somewhere else, away from the sources, it computes.
"""

import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import torch

SHIMS = ("torch/csrc/inductor/aoti_torch/c/shim.h", "torch/csrc/stable/c/shim.h")
# The C and C++ run-time libraries version their symbols; the std:: templates that PyTorch
# instantiates too are found there first, and carry none.
RUNTIME_VERSION = re.compile(r"@(GLIBC|GLIBCXX|CXXABI|GCC|GOMP|OMP)_")
RUNTIME_NAME = re.compile(r"(|vtable for |VTT for |typeinfo for |typeinfo name for )std::")
WEAK_LOADER_HOOKS = {
    "__gmon_start__",
    "__cxa_finalize",
    "_ITM_deregisterTMCloneTable",
    "_ITM_registerTMCloneTable",
}
ABI3 = ("abi3audit", "--strict", "--summary", "--assume-minimum-abi3", "3.11")
FOREIGN = re.compile(r"\b(at|c10|torch|caffe2|pybind11)::")

# An editable installation would find in the sources what the wheel lacks.
SMOKE = """
import os, sys
sys.meta_path[:] = [f for f in sys.meta_path if getattr(f, "__name__", "") != "_EditableFinder"]
import torch, torchcent
assert os.path.samefile(os.path.dirname(torchcent.__file__), "torchcent"), torchcent.__file__
star = torch.tensor([[0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0]])
assert torchcent.betweenness(star).tolist() == [1, 0, 0, 0]
assert os.path.samefile(torchcent.include_path(), "torchcent/include")
print(torchcent.show_config())
"""


def shim_names() -> set[str]:
    """Every function that PyTorch's stable C headers declare.

    The headers hide what is newer than TORCH_TARGET_VERSION from the compiler, so a name that is
    too new does not compile in the first place.
    """
    include = Path(torch.__file__).parent / "include"
    text = "".join((include / header).read_text() for header in SHIMS)
    return set(re.findall(r"\b(?:aoti_)?torch_\w+", text))


def undefined_symbols(library: Path) -> list[str]:
    command = ["nm", "--dynamic", "--undefined-only", "--demangle", str(library)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [line.split(maxsplit=1)[1] for line in lines]


def is_allowed(symbol: str, shims: set[str]) -> bool:
    if FOREIGN.search(symbol):
        return False
    if RUNTIME_VERSION.search(symbol) or RUNTIME_NAME.match(symbol) or symbol in WEAK_LOADER_HOOKS:
        return True
    return symbol in shims


def check(wheel: Path) -> list[str]:
    """What is wrong with the wheel, one line each."""
    wrong = []
    if "-py3-none-" not in wheel.name:
        wrong.append(f"{wheel.name} is not tagged py3-none")
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        package = Path(folder, "torchcent")
        headers = ("csr.h", "multi_search.h", "multi_search.cuh")
        for name in ("_C.abi3.so", "py.typed", *(f"include/{header}" for header in headers)):
            if not (package / name).exists():
                wrong.append(f"torchcent/{name} is missing")
        shims = shim_names()
        for library in sorted(package.glob("*.so")):
            if subprocess.run([*ABI3, str(library)]).returncode != 0:
                wrong.append(
                    f"abi3audit found symbols outside Python's limited API: {library.name}"
                )
            symbols = undefined_symbols(library)
            bad = [symbol for symbol in symbols if not is_allowed(symbol, shims)]
            wrong += [f"{library.name} needs {symbol}" for symbol in bad]
            print(f"{library.name}: {len(symbols)} undefined symbols, {len(bad)} not allowed")
        environment = {**os.environ, "PYTHONPATH": folder}  # goes before any installed torchcent
        run = subprocess.run([sys.executable, "-P", "-c", SMOKE], cwd=folder, env=environment)
        if run.returncode != 0:
            wrong.append("the unpacked wheel does not compute")
    return wrong


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    wrong = check(Path(sys.argv[1]))
    for line in wrong:
        print(f"error: {line}", file=sys.stderr)
    print(f"{Path(sys.argv[1]).name}: {'not fit for release' if wrong else 'fine'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
