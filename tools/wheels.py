"""Wheels for every platform, built on one Linux machine: `python tools/wheels.py`, into dist/.

zig's C++ compiler (the package ziglang) has the headers and libraries of other systems. PyTorch's
headers are those of the PyTorch that is installed. Its libraries are not needed, only the names of
the functions in them.

zig links its own C++ library into ours, so that none of the system is needed, and no exception may
leave it (csrc/core/caught.h). Wheels of the CUDA kernels are built by tools/cuda_wheels.py, and
tools/check_wheels.py checks all.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import kernels
from check_wheel import shim_names

BUILD = Path("build/wheels")
ZIG = [sys.executable, "-m", "ziglang"]
FLAGS = [
    *kernels.FLAGS,
    "-fno-sanitize=undefined",
    "-Wno-unknown-warning-option",
    *("-include", "core/caught.h"),
    *(f"-I{path}" for path in kernels.INCLUDE),
    *(f"-D{name}={value}" for name, value in kernels.MACROS),
]


class Platform(NamedTuple):
    target: str
    """zig's name of it, with the oldest version of the system."""
    tag: str
    """That of the wheel."""
    torch: str
    """The library of PyTorch's that has the functions of its stable ABI."""
    library: str = "_C.abi3.so"
    compile: tuple[str, ...] = ()
    link: tuple[str, ...] = ()


# Where every processor can fuse a product and a sum, it would do so, and results would have other
# bits than those of the portable kernels of x86-64.
EXACT = ("-ffp-contract=off",)
# Nothing is exported: PyTorch learns of the operators when the library is loaded. Otherwise the
# system would take functions of the C++ library from elsewhere, which throw other exceptions. What
# no library here has, such as a function of a newer glibc, is an error.
HIDDEN = ("-Wl,--version-script=tools/exports.txt", "-Wl,-z,defs")
PLATFORMS = {
    "linux-x86_64": Platform(
        "x86_64-linux-gnu.2.28", "manylinux_2_28_x86_64", "libtorch_cpu.so", link=HIDDEN
    ),
    "linux-aarch64": Platform(
        "aarch64-linux-gnu.2.28",
        "manylinux_2_28_aarch64",
        "libtorch_cpu.so",
        compile=EXACT,
        link=HIDDEN,
    ),
    "macos-arm64": Platform(
        "aarch64-macos.14.0",
        "macosx_14_0_arm64",
        "libtorch_cpu.dylib",
        compile=EXACT,
        link=("-Wl,-rpath,@loader_path/../torch/lib", "-Wl,-install_name,@rpath/_C.abi3.so"),
    ),
    "windows-x86_64": Platform("x86_64-windows-gnu", "win_amd64", "torch_cpu.dll", "_C.pyd"),
}


def run(*command: str | Path, folder: Path | None = None, **environment: str) -> None:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


def torch_library(platform: Platform, folder: Path) -> Path:
    """In place of PyTorch's: the functions of its stable ABI without what they do."""
    if platform.torch.endswith(".dll"):
        definition, library = folder / "torch.def", folder / "torch.lib"
        definition.write_text(
            "\n".join([f"LIBRARY {platform.torch}", "EXPORTS", *sorted(shim_names()), ""])
        )
        run(*ZIG, "dlltool", "-m", "i386:x86-64", "-d", definition, "-l", library)
        return library
    source, library = folder / "torch.c", folder / platform.torch
    source.write_text("".join(f"void {name}(void) {{}}\n" for name in sorted(shim_names())))
    apple = platform.torch.endswith(".dylib")
    name = f"-install_name,@rpath/{platform.torch}" if apple else f"-soname,{platform.torch}"
    run(*ZIG, "cc", "-target", platform.target, "-shared", f"-Wl,{name}", source, "-o", library)
    return library


def compiled(platform: Platform, folder: Path, jobs: int) -> Path:
    """The library for a platform. zig does not compile again what it has in its cache."""
    folder.mkdir(parents=True, exist_ok=True)
    sources = kernels.units(sorted(map(str, kernels.cpu_sources())))
    objects = [folder / f"{Path(source).stem}.o" for source in sources]
    command = [*ZIG, "c++", "-target", platform.target]

    def compile_one(source: str, target: Path) -> None:
        run(*command, *FLAGS, *platform.compile, "-c", source, "-o", target)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(compile_one, sources, objects))
    library = folder / platform.library
    torch = torch_library(platform, folder)
    run(*command, "-shared", "-s", "-o", library, *objects, torch, *platform.link)
    return library


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("platforms", nargs="*", metavar="PLATFORM", help=", ".join(PLATFORMS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--dist", type=Path, default=Path("dist"))
    options = parser.parse_args()
    unknown = set(options.platforms) - set(PLATFORMS)
    if unknown:
        parser.error(f"PLATFORM must be among {', '.join(PLATFORMS)}, got {', '.join(unknown)}")
    options.dist.mkdir(exist_ok=True)
    os.environ["TORCHCENT_KERNELS"] = "all"  # never those of this machine alone
    for name in options.platforms or PLATFORMS:
        began = time.monotonic()
        platform = PLATFORMS[name]
        library = compiled(platform, BUILD / name, options.jobs)
        for older in (BUILD / name).glob("lib*/"):
            shutil.rmtree(older)
        run(
            *(sys.executable, "setup.py", "--quiet", "build", "--build-base", BUILD / name),
            *("bdist_wheel", "--dist-dir", options.dist),
            TORCHCENT_PREBUILT=str(library.resolve()),
            TORCHCENT_PLATFORM=platform.tag,
        )
        (wheel,) = options.dist.glob(f"*-{platform.tag}.whl")
        print(f"{time.monotonic() - began:5.0f} s  {wheel} {wheel.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
