"""Checks the wheels of all platforms and the archive of sources: `tools/check_wheels.py dist`.

None is run here (tools/test_wheel.py does that where they run). Of each library:
- what it takes from PyTorch is declared in PyTorch's stable C headers. All else is of the
  system, nothing is of Python, and nothing is exported;
- it is for the processor, and on macOS for the system, that the tag names.

auditwheel says that the versions of glibc are old enough, abi3audit and torch-abi-audit that a
wheel serves every Python and every PyTorch, check-wheel-contents and twine that an index takes it.
"""

import json
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import lief
from check_wheel import ABI3, shim_names

SYSTEM = re.compile(
    r"lib(c|m|dl|pthread|rt)\.so\.\d+|libgcc_s\.so\.1|ld-linux-\S+"
    r"|/usr/lib/libSystem\.B\.dylib|(KERNEL32|ADVAPI32|NTDLL|api-ms-win-crt-\S+)\.dll",
    re.IGNORECASE,
)
TORCH = re.compile(r"libtorch(_cpu)?\.so|@rpath/libtorch_cpu\.dylib|torch_cpu\.dll")
SHIM = re.compile(r"(aoti_)?torch_")
# zig's linker for macOS exports the allocation of its C++ library, which takes it from malloc, too.
OF_MACOS = re.compile(r"_Z(n|d)[aw]\w+|_Zdl\w+|__dso_handle|_mh_dylib_header")
CPLUSPLUS = re.compile(r"_Z|__cxa_(?!atexit|finalize|pure_virtual)|__gxx_|\?")
PYTHON = re.compile(r"_?Py[A-Z_]")
MACHINES = {"x86_64": "X86_64", "aarch64": "AARCH64", "arm64": "ARM64", "amd64": "AMD64"}


class Library(NamedTuple):
    machine: str
    needs: list[str]
    """The names of other libraries."""
    taken: set[str]
    """Functions of others."""
    exported: set[str]
    oldest: tuple[int, ...] = ()
    """The version of macOS."""


def read(path: Path) -> Library:
    file: Any = lief.parse(str(path))
    if isinstance(file, lief.ELF.Binary):
        taken = {str(symbol.name) for symbol in file.imported_symbols}
        exported = {str(symbol.name) for symbol in file.exported_symbols}
        return Library(file.header.machine_type.name, list(file.libraries), taken, exported)
    if isinstance(file, lief.PE.Binary):
        taken = {str(entry.name) for library in file.imports for entry in library.entries}
        entries = file.get_export().entries if file.has_exports else []
        exported = {str(entry.name) for entry in entries}
        needs = [str(library.name) for library in file.imports]
        return Library(file.header.machine.name, needs, taken, exported)
    taken = {str(symbol.name)[1:] for symbol in file.imported_symbols}
    exported = {str(symbol.name)[1:] for symbol in file.exported_symbols}
    needs = [str(library.name) for library in file.libraries]
    oldest = tuple(file.build_version.minos[:2])
    return Library(file.header.cpu_type.name, needs, taken, exported, oldest)


def of_library(path: Path, tag: str) -> list[str]:
    """What is wrong with the library, one line each."""
    library = read(path)
    machine = next(name for end, name in MACHINES.items() if tag.endswith(end))
    wrong = [] if library.machine == machine else [f"it is for {library.machine}, not {machine}"]
    if library.oldest and library.oldest != tuple(map(int, tag.split("_")[1:3])):
        wrong.append(f"it is for macOS {library.oldest}")
    apple = tag.startswith("macosx")
    own = f"@rpath/{path.name}" if apple else None  # a library there names itself
    torch = [name for name in library.needs if TORCH.fullmatch(name)]
    known = {*torch, own}
    others = [name for name in library.needs if not SYSTEM.fullmatch(name) and name not in known]
    wrong += [f"it needs {name}" for name in others]
    if len(torch) != 1:
        wrong.append(f"of PyTorch's libraries it needs {torch}")
    shims = {name for name in library.taken if SHIM.match(name)}
    wrong += [f"{name} is not of the stable ABI" for name in sorted(shims - shim_names())]
    foreign = sorted(name for name in library.taken if CPLUSPLUS.match(name))
    wrong += [f"it takes {name} of another C++ library" for name in foreign]
    wrong += [f"it takes {name} of Python" for name in sorted(library.taken) if PYTHON.match(name)]
    if not tag.startswith("win"):  # there, names belong to their library
        more = {name for name in library.exported if apple and OF_MACOS.fullmatch(name)}
        wrong += [f"it exports {name}" for name in sorted(library.exported - more)]
    print(f"  {path.name}: {len(library.taken)} functions of others, {len(shims)} of PyTorch")
    return wrong


def of_tool(*command: str | Path) -> list[str]:
    run = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if run.returncode == 0:
        return []
    return [f"{' '.join(map(str, command))}: {(run.stdout + run.stderr).strip()}"]


def of_glibc(wheel: Path, tag: str) -> list[str]:
    """auditwheel's policy. Of libraries of others PyTorch's may be missing: it is loaded before."""
    run = subprocess.run(["auditwheel", "show", "--json", wheel], capture_output=True, text=True)
    if run.returncode != 0:
        return [f"auditwheel show: {run.stderr}"]
    shown = json.loads(run.stdout)
    wrong = [f"it needs {name}" for name in shown["external_libs"] if not TORCH.fullmatch(name)]
    needed, allowed = (
        tuple(map(int, re.findall(r"_(\d+)", name)[:2])) for name in (shown["sym_tag"], tag)
    )
    print(f"  its symbols are of glibc {needed[0]}.{needed[1]} or older")
    if not shown["sym_tag"].startswith("manylinux") or needed > allowed:
        wrong.append(f"its symbols need {shown['sym_tag']}")
    return wrong


def of_wheel(wheel: Path) -> list[str]:
    tag = wheel.stem.rsplit("-", 1)[1]
    wrong = [] if "-py3-none-" in wheel.name else ["it is not tagged py3-none"]
    wrong += of_tool("check-wheel-contents", wheel)
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        package = Path(folder, wheel.name.split("-")[0])
        windows = tag.startswith("win")
        if package.name == "torchcent":
            library = package / ("_C.pyd" if windows else "_C.abi3.so")
            expected = (library.name, "py.typed", "include/csr.h", "include/multi_search.h")
        else:
            library = package / "_CUDA.abi3.so"
            expected = (library.name, "__init__.py")
        for name in expected:
            if not (package / name).exists():
                wrong.append(f"{package.name}/{name} is missing")
        wrong += of_library(library, tag)
        wrong += of_tool("torch-abi-audit", "--check", "torch", package)
        if not windows:  # no function of Python's is used, and none has to be exported
            wrong += of_tool(*ABI3, library)
        if tag.startswith("manylinux"):
            wrong += of_glibc(wheel, tag)
    return wrong


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    files = sorted(Path(sys.argv[1]).iterdir())
    failed = 0
    for file in files:
        print(f"{file.name}: {file.stat().st_size:,} bytes")
        wrong = of_tool("twine", "check", "--strict", file)
        wrong += of_wheel(file) if file.suffix == ".whl" else []
        failed += len(wrong)
        for line in wrong:
            print(f"error: {line}", file=sys.stderr)
    print(f"{len(files)} files, {failed} faults")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
