"""Optional packages (extras), imported where they are used."""

from __future__ import annotations

import importlib
from typing import Any


def need(module: str, extra: str, what: str) -> Any:
    """Imports an optional package, or raises ImportError naming the extra to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise lacking(module.split(".")[0], extra, what) from error


def lacking(package: str, extra: str, what: str) -> ImportError:
    """The error for a package that is not installed."""
    name = _DISTRIBUTIONS.get(package, package)
    return ImportError(
        f"{what} needs {package}, of the extra torchcent[{extra}]: pip install {name}"
    )


#: packages that pip knows by another name
_DISTRIBUTIONS = {"sklearn": "scikit-learn"}
