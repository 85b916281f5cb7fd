"""The compiled libraries, for setup.py: torchcent._C (schemas and CPU kernels) and, where CUDA
sources and nvcc are present, torchcent._CUDA. Both use PyTorch's stable ABI and Python's limited
API, so that one wheel serves every torch >= 2.10 and every Python >= 3.11."""

import os
import platform
import re
import shlex
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from setuptools import Extension
from torch.utils import cpp_extension
from torch.utils.cpp_extension import BuildExtension, CppExtension

CSRC = Path("csrc")
PRECOMPILED = Path("core/precompiled.h")
UNITS = Path("build/units")
MACROS = [("TORCH_TARGET_VERSION", "0x020a000000000000")]
INCLUDE = [str(path.resolve()) for path in (CSRC, CSRC / "include")]
# Kernels that check themselves (tools/sanitize.py) or count their lines (make coverage), for a
# folder of their own.
SANITIZE = {
    "": ["-O3", "-g0", "-DTORCHCENT_RELEASE"],
    "address": ["-fsanitize=address,undefined,float-cast-overflow", "-fsanitize-recover=all"],
    "thread": ["-fsanitize=thread"],
    "coverage": ["--coverage", "-fprofile-update=prefer-atomic", "-O1", "-g0"],
}[os.environ.get("TORCHCENT_SANITIZE", "")]
INSTRUMENTS = ("-fsanitize", "--coverage")
# Some compilers link their C++ run-time library in. PyTorch brings another one: if ours were
# exported, half of a stream could be ours and half PyTorch's, and an error message crash.
LINK = ["-pthread", *(["-Wl,--exclude-libs,ALL"] if platform.system() == "Linux" else [])]
if SANITIZE[0].startswith("-fsanitize"):
    # Python's own flags have -fwrapv, with which no overflow would be reported.
    SANITIZE += ["-O1", "-g1", "-fno-omit-frame-pointer", "-fno-wrapv", "-D_GLIBCXX_ASSERTIONS"]
FLAGS = ["-std=c++20", "-fvisibility=hidden", "-pthread", "-Wall", "-Wextra", *SANITIZE]
# Not to be warned of PyTorch's headers: of directories that are both, -I is ignored.
FLAGS += [f"-isystem{path}" for path in cpp_extension.include_paths()]
if platform.machine() == "x86_64":
    # g++ 12 warns inside of its own AVX-512 header.
    FLAGS += ["-Wno-maybe-uninitialized", "-Wno-uninitialized"]


def extensions() -> list[Extension]:
    """The libraries that can be built here."""
    instruments = [flag for flag in SANITIZE if flag.startswith(INSTRUMENTS)]
    cpu = CppExtension(
        "torchcent._C",
        sorted(map(str, cpu_sources())),
        include_dirs=INCLUDE,
        define_macros=MACROS,
        extra_compile_args=FLAGS,
        extra_link_args=[*LINK, *instruments],
        py_limited_api=True,
    )
    cuda = cuda_extension()
    return [cpu] if cuda is None else [cpu, cuda]


def cpu_sources() -> list[Path]:
    """The sources of torchcent._C: with TORCHCENT_KERNELS=native without those of the kernels that
    this machine would not choose, which are a third of the work.

    Which it chooses is found out again at run time (csrc/core/cpu/simd_level.cpp)."""
    wanted = os.environ.get("TORCHCENT_KERNELS", "all")
    if wanted not in ("all", "native"):
        raise SystemExit(f"TORCHCENT_KERNELS must be all or native, got {wanted}")
    sources = list(CSRC.glob("*/cpu/*.cpp"))
    if wanted == "all" or platform.machine() != "x86_64":
        return sources
    level = {"AVX512": "avx512", "AVX2": "avx2"}.get(torch.backends.cpu.get_cpu_capability())
    native = {
        f"lane_kernels_{level or 'portable'}",
        f"scalar_kernels_{'avx2' if level else 'portable'}",
    }
    return [path for path in sources if "_kernels_" not in path.stem or path.stem in native]


def units(sources: list[str]) -> list[str]:
    """Instead of the sources, a file per folder that includes those in it, kernels apart.

    What the files of a folder share, most of it PyTorch's, is then compiled once. Names that are
    local to a file must be unique in its folder."""
    alone, together = [], dict[Path, list[str]]()
    for source in sources:
        path = Path(source).relative_to(CSRC)
        if "_kernels_" in path.stem:
            alone.append(source)
        else:
            line = f'#include "{path.as_posix()}"\n'
            unit = UNITS / ("_".join(path.parts[:-1]) + path.suffix)
            together.setdefault(unit, []).append(line)
    UNITS.mkdir(parents=True, exist_ok=True)
    for unit, lines in together.items():
        text = "".join(lines)
        if not unit.exists() or unit.read_text() != text:
            unit.write_text(text)
        alone.append(str(unit))
    return alone


def cuda_home() -> str | None:
    """CUDA_HOME, or where nvcc says that it lives: `#$ TOP=...`; it may be a script elsewhere."""
    if "CUDA_HOME" in os.environ or shutil.which("nvcc") is None:
        return os.environ.get("CUDA_HOME")
    command = ["nvcc", "--dryrun", "-x", "cu", "-E", os.devnull]
    said = subprocess.run(command, capture_output=True, text=True).stderr
    top = re.search(r"#\$ TOP=(.*)", said)
    return str(Path(top.group(1).strip()).resolve()) if top else None


def cuda_targets() -> list[str]:
    """nvcc's options for the architectures in TORCHCENT_CUDA_ARCH and for PTX of the last one."""
    archs = os.environ.get("TORCHCENT_CUDA_ARCH", "80;90").replace(",", ";").split(";")
    targets = [f"-gencode=arch=compute_{arch},code=sm_{arch}" for arch in archs]
    return [*targets, f"-gencode=arch=compute_{archs[-1]},code=compute_{archs[-1]}"]


def cuda_extension() -> Extension | None:
    """The CUDA kernels.

    By default only for a CUDA build of PyTorch. With TORCHCENT_CUDA=1 a CPU build will do: nvcc and
    its headers are enough, no GPU is needed. cudart is linked in.
    """
    sources = sorted(str(path) for path in CSRC.glob("*/cuda/*.cu"))
    home = cuda_home()
    wanted = os.environ.get("TORCHCENT_CUDA", "1" if torch.version.cuda else "0") != "0"
    if not sources or home is None or not wanted:
        return None
    cpp_extension.CUDA_HOME = home
    libraries = [str(path) for path in (Path(home) / "lib64", Path(home) / "lib") if path.exists()]
    return CppExtension(
        "torchcent._CUDA",
        sources,
        include_dirs=[*INCLUDE, f"{home}/include"],
        define_macros=[*MACROS, ("USE_CUDA", None)],
        extra_compile_args={
            "cxx": FLAGS,
            "nvcc": ["-O3", "-std=c++20", "-Xcompiler", "-fvisibility=hidden", *cuda_targets()],
        },
        library_dirs=libraries,
        libraries=["cudart_static", "rt", "dl", "pthread"],
        # PyTorch's CUDA symbols come with libtorch, which a CPU build has as well.
        extra_link_args=[*LINK, "-Wl,--no-as-needed", "-ltorch"],
        py_limited_api=True,
    )


# What ninja prints for a file: [files done/files] seconds, and the command that compiled it.
STATUS = "[%f/%t] %e "
DONE = re.compile(r"\[(\d+)/(\d+)\] ([\d.]+) .* -c (\S+)")
PATIENCE = 15
"""Seconds without a finished file after which a line says that work goes on."""


@contextmanager
def progress() -> Iterator[None]:
    """Prints a line per compiled file instead of its command; warnings and errors are kept."""
    os.environ.setdefault("NINJA_STATUS", STATUS)
    began = last = time.monotonic()
    said, over = "", threading.Event()
    screen = os.dup(1)
    reader, writer = os.pipe()

    def say(line: str) -> None:
        nonlocal last
        last = time.monotonic()
        os.write(screen, f"{line}\n".encode())

    def wait() -> None:
        while not over.wait(1):
            if time.monotonic() - last > PATIENCE:
                say(f"{time.monotonic() - began:5.0f} s  {said} still compiling")

    def follow() -> None:
        nonlocal said
        with os.fdopen(reader, errors="replace") as lines:
            for line in lines:
                if found := DONE.match(line):
                    done, files, seconds, source = found.groups()
                    said = f"[{done:>{len(files)}}/{files}]"
                    path = Path(os.path.relpath(source))
                    name = path if path.parent != UNITS else CSRC / path.stem.replace("_", "/")
                    say(f"{float(seconds):5.0f} s  {said} {name}")
                elif not line.startswith("ninja: "):
                    say(line.rstrip())

    threads = [threading.Thread(target=target, daemon=True) for target in (wait, follow)]
    os.dup2(writer, 1)
    os.close(writer)
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        os.dup2(screen, 1)  # closes the last end of the pipe that is written to
        over.set()
        for thread in threads:
            thread.join()
        os.close(screen)


class BuildKernels(BuildExtension):
    """Keeps the object files, so that a wheel after an installation in place compiles little."""

    def finalize_options(self) -> None:
        super().finalize_options()
        kind = os.environ.get("TORCHCENT_SANITIZE")
        self.build_temp = f"build/sanitize/{kind}/objects" if kind else "build/objects"

    def build_extension(self, extension: Extension) -> None:
        if extension.name == "torchcent._C":
            self.precompile(extension)
        extension.sources = units(extension.sources)
        super().build_extension(extension)

    def precompile(self, extension: Extension) -> None:
        """Compiles PyTorch's headers once, for g++: they are half of the time of most files.

        g++ looks for core/precompiled.h.gch before core/precompiled.h in each directory, and does
        not take one that was made with other options; it would take one of another PyTorch."""
        compiler = shlex.split(os.environ.get("CXX", "c++"))
        version = subprocess.run([*compiler, "--version"], capture_output=True, text=True).stdout
        if "Free Software Foundation" not in version:
            return
        folder = Path(self.build_temp).resolve() / "precompiled"
        made = folder / f"{PRECOMPILED}.gch"
        command = [*compiler, *self.compiler.compiler_so[1:]]
        command += [f"-D{name}" + (f"={value}" if value else "") for name, value in MACROS]
        command += [f"-I{path}" for path in extension.include_dirs]
        command += [*extension.extra_compile_args, "-x", "c++-header", str(CSRC / PRECOMPILED)]
        text = (CSRC / PRECOMPILED).read_text()
        made_by = "\n".join([version, torch.__version__, text, *command])
        record = made.with_suffix(".made_by")
        if not (made.exists() and record.exists() and record.read_text() == made_by):
            record.parent.mkdir(parents=True, exist_ok=True)
            record.unlink(missing_ok=True)
            if subprocess.run([*command, "-o", str(made)]).returncode != 0:
                made.unlink(missing_ok=True)
                return
            record.write_text(made_by)
        extension.include_dirs.insert(0, str(folder))
        extension.extra_compile_args += ["-include", str(PRECOMPILED)]

    def build_extensions(self) -> None:
        """ninja knows what CUDA's objects are of only with a CUDA build of PyTorch."""
        newest = max(path.stat().st_mtime for path in (*CSRC.rglob("*.*h"), *CSRC.rglob("*.cu")))
        for item in Path(self.build_temp).rglob("*_cuda.o"):
            if item.stat().st_mtime < newest:
                item.unlink()
        with progress():
            super().build_extensions()
