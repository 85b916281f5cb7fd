"""Wheels of the CUDA kernels, one per major version of CUDA: `python tools/cuda_wheels.py
[--dist dist] [HOME ...]`, each HOME a toolkit of CUDA. By default it is the one of nvcc. CXX names
another compiler for the host than g++.

The wheel torchcent-cu13 has the library alone. A torchcent of the same version loads it where
PyTorch was built with CUDA 13 (torchcent/runtime/_cuda.py).

The host's part is compiled by g++. The linker is zig's, for glibc 2.28, with g++'s C++ library
inside, which is newer than that of many systems. So is cudart. No GPU is needed.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import kernels
from torch.utils import cpp_extension
from wheels import BUILD, HIDDEN, PLATFORMS, ZIG, run, torch_library

PLATFORM = PLATFORMS["linux-x86_64"]._replace(torch="libtorch.so")  # and PyTorch's CUDA with it
PACKAGE = Path("tools/cuda_package")
CXX = os.environ.get("CXX", "g++")
# g++ takes it from a glibc newer than 2.28, and zero only means that there may be threads.
SINGLE_THREADED = "char __libc_single_threaded = 0;\n"
FLAGS = [
    *("-ccbin", CXX, "-std=c++20", "-O3", "--expt-relaxed-constexpr"),
    *("-Xcompiler", "-fPIC,-fvisibility=hidden"),
    *(f"-D{name}={value}" for name, value in kernels.MACROS),
    "-DUSE_CUDA",
    *(f"-I{path}" for path in kernels.INCLUDE),
    *(f"--system-include={path}" for path in cpp_extension.include_paths()),
]


def major(home: Path) -> str:
    command = [str(home / "bin/nvcc"), "--version"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    version = re.search(r"release (\d+)\.\d+", said)
    if version is None:
        sys.exit(f"{shlex.join(command)} does not say which CUDA it is of: {said}")
    return version[1]


def of_compiler(name: str) -> str:
    """Where g++ has a library."""
    command = [CXX, f"-print-file-name={name}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def cudart(home: Path) -> Path:
    places = ("lib64", "lib", "targets/x86_64-linux/lib", "lib/x86_64-linux-gnu")
    paths = [home / place / "libcudart_static.a" for place in places]
    for path in paths:
        if path.exists():
            return path
    sys.exit(f"none of {', '.join(map(str, paths))} exists")


def compiled(home: Path, folder: Path, jobs: int) -> Path:
    """The library for a toolkit. Objects that are newer than all sources are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    newest = max(path.stat().st_mtime for path in kernels.CSRC.rglob("*.*"))
    command = [str(home / "bin/nvcc"), *FLAGS, *kernels.cuda_targets()]
    record = folder / "command"
    same = record.exists() and record.read_text() == shlex.join(command)

    def compile_one(source: Path) -> Path:
        target = folder / f"{source.stem}.o"
        if not (same and target.exists() and target.stat().st_mtime > newest):
            run(*command, "-c", source, "-o", target)
        return target

    with ThreadPoolExecutor(jobs) as pool:
        sources = kernels.units(sorted(map(str, kernels.CSRC.glob("*/cuda/*.cu"))))
        objects = list(pool.map(compile_one, map(Path, sources)))
    record.write_text(shlex.join(command))
    source, single = folder / "single_threaded.c", folder / "single_threaded.o"
    source.write_text(SINGLE_THREADED)
    target = ("-target", PLATFORM.target)
    run(*ZIG, "cc", *target, "-fPIC", "-fvisibility=hidden", "-c", source, "-o", single)
    library = folder / "_CUDA.abi3.so"
    run(
        *(*ZIG, "c++", *target, "-nostdlib++", "-shared", "-s", "-Wl,--gc-sections", *HIDDEN),
        *("-o", library, *objects, single, torch_library(PLATFORM, folder)),
        *(of_compiler("libstdc++.a"), of_compiler("libgcc_s.so.1"), cudart(home)),
        *("-lrt", "-ldl", "-lpthread"),
    )
    return library


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("homes", nargs="*", metavar="HOME", type=Path, help="a toolkit of CUDA")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--dist", type=Path, default=Path("dist"))
    options = parser.parse_args()
    here = kernels.cuda_home()
    homes = options.homes or ([Path(here)] if here else [])
    if not homes:
        print("no wheels of CUDA kernels: nvcc is not here")
    options.dist.mkdir(exist_ok=True)
    version = tomllib.loads(Path("pyproject.toml").read_text())["project"]["version"]
    for home in homes:
        began, number = time.monotonic(), major(home)
        folder = BUILD / f"cuda{number}"
        library = compiled(home.resolve(), folder, options.jobs)
        package = folder / "package"
        shutil.rmtree(package, ignore_errors=True)
        shutil.copytree(PACKAGE, package)
        shutil.copy("LICENSE", package)
        run(
            *(sys.executable, "setup.py", "--quiet"),
            *("bdist_wheel", "--dist-dir", options.dist.resolve()),
            folder=package,
            PYTHONPATH=str(Path("tools").resolve()),
            TORCHCENT_PREBUILT=str(library.resolve()),
            TORCHCENT_PLATFORM=PLATFORM.tag,
            TORCHCENT_CUDA_MAJOR=number,
            TORCHCENT_VERSION=version,
        )
        (wheel,) = options.dist.glob(f"torchcent_cu{number}-{version}-*.whl")
        print(f"{time.monotonic() - began:5.0f} s  {wheel} {wheel.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
