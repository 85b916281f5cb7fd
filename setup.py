"""Builds torchcent._C (schemas and CPU kernels) and, where CUDA sources and nvcc are present,
torchcent._CUDA. Both use PyTorch's stable ABI and Python's limited API, so that one wheel serves
every torch >= 2.10 and every Python >= 3.11."""

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

import torch
from setuptools import Extension, setup
from setuptools.command.build_py import build_py
from torch.utils import cpp_extension
from torch.utils.cpp_extension import BuildExtension, CppExtension

CSRC = Path("csrc")
MACROS = [("TORCH_TARGET_VERSION", "0x020a000000000000")]
INCLUDE = [str(path.resolve()) for path in (CSRC, CSRC / "include")]
# Kernels that check themselves (tools/sanitize.py) or count their lines (make coverage), for a
# folder of their own.
SANITIZE = {
    "": ["-O3", "-g0"],
    "address": ["-fsanitize=address,undefined,float-cast-overflow", "-fsanitize-recover=all"],
    "thread": ["-fsanitize=thread"],
    "coverage": ["--coverage", "-fprofile-update=prefer-atomic", "-O1", "-g0"],
}[os.environ.get("TORCHCENT_SANITIZE", "")]
INSTRUMENTS = ("-fsanitize", "--coverage")
if SANITIZE[0].startswith("-fsanitize"):
    # Python's own flags have -fwrapv, with which no overflow would be reported.
    SANITIZE += ["-O1", "-g1", "-fno-omit-frame-pointer", "-fno-wrapv", "-D_GLIBCXX_ASSERTIONS"]
FLAGS = ["-std=c++20", "-fvisibility=hidden", "-pthread", "-Wall", "-Wextra", *SANITIZE]
# Not to be warned of PyTorch's headers: of directories that are both, -I is ignored.
FLAGS += [f"-isystem{path}" for path in cpp_extension.include_paths()]
if platform.machine() == "x86_64":
    FLAGS.append("-Wno-maybe-uninitialized")  # g++ 12 warns inside of its own AVX-512 header

extensions = [
    CppExtension(
        "torchcent._C",
        sorted(map(str, [CSRC / "core/library.cpp", *CSRC.glob("*/cpu/*.cpp")])),
        include_dirs=INCLUDE,
        define_macros=MACROS,
        extra_compile_args=FLAGS,
        extra_link_args=["-pthread", *(flag for flag in SANITIZE if flag.startswith(INSTRUMENTS))],
        py_limited_api=True,
    )
]


def cuda_home() -> str | None:
    """CUDA_HOME, or where nvcc says that it lives: `#$ TOP=...`; it may be a script elsewhere."""
    if "CUDA_HOME" in os.environ or shutil.which("nvcc") is None:
        return os.environ.get("CUDA_HOME")
    command = ["nvcc", "--dryrun", "-x", "cu", "-E", os.devnull]
    said = subprocess.run(command, capture_output=True, text=True).stderr
    top = re.search(r"#\$ TOP=(.*)", said)
    return str(Path(top.group(1).strip()).resolve()) if top else None


def cuda_extension() -> Extension | None:
    """The CUDA kernels, for the architectures in TORCHCENT_CUDA_ARCH and as PTX of the last one.

    By default only for a CUDA build of PyTorch. With TORCHCENT_CUDA=1 a CPU build will do: nvcc and
    its headers are enough, no GPU is needed. cudart is linked in.
    """
    sources = sorted(str(path) for path in CSRC.glob("*/cuda/*.cu"))
    home = cuda_home()
    wanted = os.environ.get("TORCHCENT_CUDA", "1" if torch.version.cuda else "0") != "0"
    if not sources or home is None or not wanted:
        return None
    cpp_extension.CUDA_HOME = home
    archs = os.environ.get("TORCHCENT_CUDA_ARCH", "80;90").replace(",", ";").split(";")
    targets = [f"-gencode=arch=compute_{arch},code=sm_{arch}" for arch in archs]
    targets.append(f"-gencode=arch=compute_{archs[-1]},code=compute_{archs[-1]}")
    libraries = [str(path) for path in (Path(home) / "lib64", Path(home) / "lib") if path.exists()]
    return CppExtension(
        "torchcent._CUDA",
        sources,
        include_dirs=[*INCLUDE, f"{home}/include"],
        define_macros=[*MACROS, ("USE_CUDA", None)],
        extra_compile_args={
            "cxx": FLAGS,
            "nvcc": ["-O3", "-std=c++20", "-Xcompiler", "-fvisibility=hidden", *targets],
        },
        library_dirs=libraries,
        libraries=["cudart_static", "rt", "dl", "pthread"],
        # PyTorch's CUDA symbols come with libtorch, which a CPU build has as well.
        extra_link_args=["-pthread", "-Wl,--no-as-needed", "-ltorch"],
        py_limited_api=True,
    )


class BuildKernels(BuildExtension):
    """Keeps the object files, so that a wheel after an installation in place compiles little."""

    def finalize_options(self) -> None:
        super().finalize_options()
        kind = os.environ.get("TORCHCENT_SANITIZE")
        self.build_temp = f"build/sanitize/{kind}/objects" if kind else "build/objects"

    def build_extensions(self) -> None:
        """ninja knows the headers of CUDA's objects only with a CUDA build of PyTorch."""
        newest = max(header.stat().st_mtime for header in CSRC.rglob("*.*h"))
        for item in Path(self.build_temp).rglob("cuda/*.o"):
            if item.stat().st_mtime < newest:
                item.unlink()
        super().build_extensions()


class BuildPackage(build_py):
    """Adds the headers for users (torchcent.include_path()), which a checkout has in csrc."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            folder = Path(self.build_lib, "torchcent", "include")
            self.mkpath(str(folder))
            for header in sorted(CSRC.glob("include/torchcent/*")):
                self.copy_file(str(header), str(folder / header.name))


if (cuda := cuda_extension()) is not None:
    extensions.append(cuda)

setup(
    ext_modules=extensions,
    cmdclass={"build_ext": BuildKernels, "build_py": BuildPackage},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
