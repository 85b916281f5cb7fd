"""show_config: the versions and settings of this installation."""

from __future__ import annotations

import importlib.util

import torch

from _torchcent_command._version import version
from torchcent.runtime import _host, _ops

__version__ = version()

_OPTIONAL = ("networkx", "pyarrow", "matplotlib", "torch_geometric")


def show_config() -> str:
    """Versions, CPU kernels in use, threads and optional packages, as printable text.

    The kernels are chosen when torchcent is imported: the best instruction set of the machine, or
    at most the one named by the environment variable TORCHCENT_SIMD (avx512, avx2, portable).
    ``torch.set_num_threads`` sets the number of threads.

    Example:
        >>> import torchcent
        >>> print(torchcent.show_config())
        torchcent  ...
    """
    names = [name for name in _OPTIONAL if importlib.util.find_spec(name) is not None]
    rows = {
        "torchcent": __version__,
        "torch": f"{torch.__version__} (CUDA {'yes' if torch.cuda.is_available() else 'no'})",
        "extension": "yes" if _ops.available else f"no, tensor engine only: {_ops.without}",
        "kernels": _kernels(),
        "cuda": _ops.from_where,
        "threads": str(torch.get_num_threads()),
        "optional": ", ".join(names) or "none",
    }
    return "\n".join(f"{name:<10} {text}" for name, text in rows.items())


def _kernels() -> str:
    """The CPU kernels in use, and whether there are those for a GPU that is here."""
    if _host.without_kernels():
        how = _host.how_to_install()
        return f"{_ops.simd}; none for CUDA, whose graphs are copied to the host: {how}"
    return (_ops.simd or "none") + (", CUDA" if _ops.cuda else "")
