"""show_config: what this installation is and what it uses."""

from __future__ import annotations

import importlib.util
from importlib.metadata import PackageNotFoundError, version

import torch

from torchcent.runtime import _ops

try:
    __version__ = version("torchcent")
except PackageNotFoundError:  # used from a checkout that was built in place
    __version__ = "0+unknown"

_OPTIONAL = ("networkx", "pyarrow", "matplotlib", "torch_geometric", "torch_scatter")


def show_config() -> str:
    """Versions, the CPU kernels in use, threads and optional packages, as a text to print.

    The kernels are chosen when torchcent is imported: the best instruction set of the machine, or
    at most the one that the environment variable TORCHCENT_SIMD names (avx512, avx2, portable).
    Threads follow ``torch.set_num_threads``.

    Example:
        >>> import torchcent
        >>> print(torchcent.show_config())
        torchcent  ...
    """
    found = [name for name in _OPTIONAL if importlib.util.find_spec(name) is not None]
    rows = {
        "torchcent": __version__,
        "torch": f"{torch.__version__} (CUDA {'yes' if torch.cuda.is_available() else 'no'})",
        "extension": "yes" if _ops.available else "no (tensor engine only)",
        "kernels": (_ops.simd or "none") + (", CUDA" if _ops.cuda else ""),
        "threads": str(torch.get_num_threads()),
        "optional": ", ".join(found) or "none",
    }
    return "\n".join(f"{name:<10} {text}" for name, text in rows.items())
