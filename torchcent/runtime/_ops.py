"""Loads the compiled operators and registers their fakes."""

import functools
import os
import sys
import warnings
from pathlib import Path

import torch

from torchcent.runtime import _cuda
from torchcent.runtime._fakes import FAKES

PACKAGE = Path(__file__).parents[1]
ops = torch.ops.torchcent
simd: str | None = None
"""Instruction set of the CPU kernels in use; None without the compiled extension."""


def is_stale(library: Path, sources: Path) -> bool:
    """Returns whether any source of the library is newer than the library.

    Only an in-place installation has sources, and only there can the Python part be newer than the
    library. CUDA sources belong to the CUDA library only.
    """
    compiled, cuda = library.stat().st_mtime, "CUDA" in library.name
    return any(
        path.stat().st_mtime > compiled
        for path in sources.rglob("*.*")
        if cuda or not ("cuda" in path.parts or path.suffix in (".cu", ".cuh"))
    )


def _load(library: Path) -> None:
    torch.ops.load_library(library)
    if is_stale(library, PACKAGE.parent / "csrc"):
        warnings.warn(
            f"torchcent's compiled library {library.name} is older than its sources: results may "
            "be wrong. Compile it again with `pip install -e .`.",
            RuntimeWarning,
            stacklevel=2,
        )


# Another build of the same sources, such as one made by tools/sanitize.py.
_name = "_C.pyd" if sys.platform == "win32" else "_C.abi3.so"
_library = Path(os.environ.get("TORCHCENT_LIBRARY") or PACKAGE / _name)

without: str | None = None
"""Why there is no compiled extension; None where it is loaded."""
if os.environ.get("TORCHCENT_NO_EXTENSION", "") not in ("", "0"):
    without = "TORCHCENT_NO_EXTENSION is set"
elif not _library.exists() and (PACKAGE / "installed_without_extension").exists():
    without = "installed with TORCHCENT_NO_EXTENSION=1"
else:
    try:
        _load(_library)
        _level = ops.simd()
    except OSError as error:
        raise ImportError(
            f"torchcent's compiled library {_library.name} could not be loaded: {error}. "
            "Build it with `pip install .` in a checkout, with torch>=2.10 installed and g++ at "
            "hand; inside a checkout only `pip install -e .` puts it where it can be found. "
            "With TORCHCENT_NO_EXTENSION=1 in the environment, of the installation or of the "
            'program, torchcent runs without it, on engine="tensor" alone.'
        ) from error
    if _level < 0:
        _limit = os.environ.get("TORCHCENT_SIMD")
        raise ImportError(
            f"torchcent's compiled library {_library.name} has kernels for one kind of processor "
            f"only, which is not this one{f' with TORCHCENT_SIMD={_limit}' if _limit else ''}: it "
            "was built with TORCHCENT_KERNELS=native, as by `make demo`. `pip install .` in a "
            "checkout builds it for all."
        )
    simd = ("portable", "avx2", "avx512")[_level]

available = simd is not None
cuda = False
"""Whether the CUDA kernels are loaded. They are a separate library, for CUDA builds of PyTorch."""

_cuda_library, from_where = _cuda.find(PACKAGE, torch.version.cuda)
"""Where the CUDA kernels are from, or why there are none."""
if available and _cuda_library is not None:
    try:
        _load(_cuda_library)
        cuda = True
    except OSError as error:
        from_where = f"no kernels: {error}"
        warnings.warn(
            f"torchcent's CUDA library {_cuda_library} could not be loaded, so that graphs on CUDA "
            f"are copied to the host: {error}. A library serves one major version of CUDA; this "
            f"PyTorch has {torch.version.cuda}.",
            stacklevel=2,
        )


@functools.cache
def _compiled(name: str, kind: str) -> bool:
    if not hasattr(ops, name):
        return False
    return torch._C._dispatch_has_kernel_for_dispatch_key(f"torchcent::{name}", kind.upper())


def has_kernel(name: str, device: torch.device) -> bool:
    """Returns whether this operator is compiled for the device."""
    return available and _compiled(name, device.type)


if available:
    _registered = torch.library.Library("torchcent", "FRAGMENT")  # for as long as it is kept
    for _name, _fake in FAKES.items():
        torch.library.register_fake(f"torchcent::{_name}", _fake, lib=_registered)
