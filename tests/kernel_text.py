"""What tests need that compile the text of CUDA kernels for the CPU."""

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "csrc"
NEEDS_SOURCES = pytest.mark.skipif(
    bool(os.environ.get("TORCHCENT_NO_EXTENSION"))
    or shutil.which("g++") is None
    or not SOURCES.is_dir(),
    reason="needs the sources, g++ and the compiled extension to compare with",
)


def compiled(name: str, folder: Path) -> ctypes.CDLL:
    """The library of tests/NAME.cpp."""
    library, source = folder / f"{name}.so", Path(__file__).with_name(f"{name}.cpp")
    flags = ["-O1", "-std=c++20", "-pthread", "-shared", "-fPIC", f"-I{SOURCES}"]
    subprocess.run(["g++", *flags, "-o", str(library), str(source)], check=True)
    return ctypes.CDLL(str(library))
