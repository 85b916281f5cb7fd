"""Optional packages (extras), imported where they are used."""

from __future__ import annotations

import importlib
from typing import Any


def need(module: str, extra: str, what: str) -> Any:
    """Imports an optional package, or raises ImportError naming the extra to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{what} needs {module.split('.')[0]}: pip install torchcent[{extra}]"
        ) from error
