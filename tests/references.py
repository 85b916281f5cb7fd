"""Results of other programs and the graphs that they are of: a small set of them in tests/golden,
larger ones in shared/ beside the repository, where that is there."""

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.sparse

HERE = Path(__file__).resolve().parent / "golden"
SHARED = Path(__file__).resolve().parents[2] / "shared"


class Golden:
    """`golden / "igraph-1.0.0/karate.npz"` is that file; without it the test is skipped."""

    def __truediv__(self, name: str) -> Path:
        for folder in (HERE, SHARED / "golden"):
            if (folder / name).exists():
                return folder / name
        pytest.skip(f"needs shared/golden/{name} beside the repository")

    def matching(self, pattern: str) -> list[Path]:
        """All files of a pattern, those of one folder or of the other; there is at least one."""
        for folder in (HERE, SHARED / "golden"):
            if files := sorted(folder.glob(pattern)):
                return files
        pytest.skip(f"needs shared/golden/{pattern} beside the repository")


class Graphs:
    """The reader of the graphs."""

    def load(self, name: str) -> tuple[scipy.sparse.csr_matrix, dict[str, Any]]:
        """Without loops, weights 1 where there are none; both directions of undirected edges."""
        if _file(name).exists():
            return _stored(name)
        file = SHARED / "data" / "load.py"
        if not file.is_file():
            pytest.skip(f"needs the graph {name} of shared/data beside the repository")
        found: tuple[scipy.sparse.csr_matrix, dict[str, Any]] = _reader(file).load(name)
        return found


def has_graph(name: object) -> bool:
    """Whether a graph is here, as far as that is known without reading it."""
    return (SHARED / "data").is_dir() or not isinstance(name, str) or _file(name).exists()


def _file(name: str) -> Path:
    return HERE / "graphs" / f"{name}.npz"


def _stored(name: str) -> tuple[scipy.sparse.csr_matrix, dict[str, Any]]:
    with np.load(_file(name)) as file:
        row, col, n = file["row"].astype(np.int64), file["col"].astype(np.int64), int(file["n"])
        directed = bool(file["directed"])
        weight = file["weight"] if "weight" in file else np.ones(len(row))
    if not directed:  # there is one direction of each edge in the file
        row, col, weight = np.r_[row, col], np.r_[col, row], np.r_[weight, weight]
    matrix = scipy.sparse.csr_matrix((weight, (row, col)), shape=(n, n))
    return matrix, {"n": n, "directed": directed, "labels": None}


@cache
def _reader(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference_graphs", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
