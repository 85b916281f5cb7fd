"""Where the library of CUDA kernels is: in this package, or in one of its own."""

from __future__ import annotations

import importlib.util
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from _torchcent_command._version import version as own_version

NAME = "_CUDA.abi3.so"


def find(package: Path, cuda: str | None) -> tuple[Path | None, str]:
    """The library for a PyTorch with this version of CUDA, or None, and a text that says which
    library it is or why there is none.

    A build from source has it in the folder `package`. Otherwise it is that of the package
    torchcent-cu13, or of another major version of CUDA, of the same version as this one. A checkout
    takes no such package, because its sources may be others.
    """
    own = package / NAME
    if cuda is None:
        return None, "no kernels: this PyTorch is built without CUDA"
    if own.exists():
        return own, "kernels compiled with torchcent"
    if (package.parent / "csrc").is_dir():
        return None, "no kernels: this checkout was built without them"
    name = f"torchcent-cu{cuda.split('.')[0]}"
    spec = importlib.util.find_spec(name.replace("-", "_"))
    if spec is None or spec.origin is None:
        return None, f"no kernels: {name} is not installed"
    here = own_version()
    try:
        there = version(name)
    except PackageNotFoundError:
        there = "of an unknown version"
    if there != here:
        return None, f"no kernels: {name} is {there}, torchcent {here}"
    return Path(spec.origin).with_name(NAME), f"kernels of {name} {there}"
