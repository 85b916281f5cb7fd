"""What tests need that compile the text of CUDA kernels for the CPU."""

import os
import shutil
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
