"""Eigenvalues and eigenvectors of the Laplacians of the graphs of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from torchcent.encodings import _dense, _large
from torchcent.engines.plan import _room
from torchcent.graph import Graph, _batch
from torchcent.runtime import _memory, _ops
from torchcent.runtime._codes import control
from torchcent.runtime._watch import at_work, progress_bar

#: normalisations by name (csrc/dense/laplacian.h)
LAPLACIANS = {None: 0, "sym": 1, "rw": 2}
#: functions of the spectrum, likewise
FUNCTIONS = {
    "heat": 0, "inverse": 1, "resistance": 2, "commute": 3, "hitting": 4, "electrostatic": 5,
    "density": 6,
}  # fmt: skip
ELECTROSTATIC = 7  # columns
_MOST_DENSE = 2048  # vertices up to which all eigenvalues take seconds, and none is cut off
_SIDE_BY_SIDE = 128  # vertices of graphs of which threads take up to 16 at a time
_QUICK = 2e8  # cubes of vertices


class Spectrum(NamedTuple):
    """The first eigenvalues of each graph, and their eigenvectors.

    Attributes:
        values: float64 [num_graphs, width].
        multiplicity: int64 [num_graphs, width], of each eigenvalue in its graph; 0 if there is
            none.
        vectors: [n, width], float64 or float32.
    """

    values: Tensor
    multiplicity: Tensor
    vectors: Tensor


class Spectra(NamedTuple):
    """What is computed of the spectra of a batch, and how it is shown."""

    graph: Graph
    normalization: str | None
    title: str
    memory: int | None
    progress: bool | None
    isolated: int = 0  # the diagonal of a vertex without arcs

    @property
    def kind(self) -> int:
        return LAPLACIANS[self.normalization]

    def allow(self, result: int, whole: bool, shape: str = "", width: int = 0) -> None:
        """Raises MemoryError if the result, of so many bytes, or the matrices do not fit; `whole`:
        all eigenvectors of each graph are needed. Otherwise there are so many columns."""
        graph, sizes = self.graph, _batch.counts(self.graph)[0]
        dense = sizes if whole else sizes[sizes <= _MOST_DENSE]
        largest, many = int(dense.max(initial=0)), sizes[sizes <= _SIDE_BY_SIDE]
        need = graph._nbytes + result + 5 * 8 * largest**2
        need += torch.get_num_threads() * 5 * 16 * 8 * int(many.max(initial=0)) ** 2
        need += 0 if _has_kernel("laplacian_eigen", self.graph) else _dense.BYTES
        need += _large.room(0 if whole else int(sizes.max(initial=0)), width)
        if self.memory is not None or need >= _memory.SMALL_RUN.get(graph.device.type, 0):
            limit = _room.limit(graph, self.memory)
            of_graphs = f" of {graph.num_graphs} graphs with up to {sizes.max(initial=0)} vertices"
            _memory.require(self.title + (shape or of_graphs), need, limit, self.memory)

    def leading(
        self, skip: int, width: int, vectors: bool = True, dtype: torch.dtype = torch.float64,
        canonical: bool = True,
    ) -> Spectrum:  # fmt: skip
        """The eigenvalues of ranks skip, ..., skip + width - 1, in ascending order.

        On the CPU vectors are rounded to float32 on the way, if that is `dtype`. Bases of large
        eigenspaces take time; without `canonical` they may be others.
        """
        graph, sizes = self.graph, _batch.counts(self.graph)[0]
        narrow = dtype == torch.float32 and graph.device.type == "cpu"
        values = torch.zeros(graph.num_graphs, width, dtype=torch.float64, device=graph.device)
        result = Spectrum(
            values, torch.zeros_like(values, dtype=torch.int64),
            torch.zeros(
                graph.num_nodes if vectors else 0, width, device=graph.device,
                dtype=torch.float32 if narrow else torch.float64,
            ),
        )  # fmt: skip
        small = np.flatnonzero((sizes > 0) & (sizes <= _dense.LARGEST))
        if small.size and _has_kernel("laplacian_eigen", self.graph):
            if graph.device.type == "cuda":
                small = small[np.argsort(sizes[small], kind="stable")]
            form = [self.kind, self.isolated, skip, 0]
            self._in_kernel("laplacian_eigen", small, form, _dense.classes(sizes[small]), *result)
            small = small[:0]
        large = sizes > _dense.LARGEST
        # Dense matrices of a few hundred vertices take longer than an iteration, but not on CUDA.
        least = _dense.LARGEST if graph.device.type == "cpu" else _MOST_DENSE
        iterated = large & (sizes > least) & (4 * (skip + width) <= sizes)
        last, rest = skip + width, list[int]()
        for number in np.flatnonzero(iterated).tolist():
            whole = int(sizes[number]) <= _MOST_DENSE
            part = _batch.part(graph, number)
            spectrum = _large.leading(
                part, self.kind, self.isolated, last, self.title, self.memory, whole
            )
            if spectrum is None:
                rest.append(number)
                continue
            values, multiplicity, basis = spectrum
            result.values[number] = values[skip:]
            result.multiplicity[number] = multiplicity[skip:]
            if vectors:
                result.vectors[_batch.run(graph, number)[0]] = basis[:, skip:]
        small = np.concatenate([small, np.flatnonzero(large & ~iterated), np.array(rest, np.int64)])
        small = np.sort(small)
        _dense.leading(graph, small, self.kind, self.isolated, skip, result, canonical)
        return result

    def sums(self, function: str, times: Tensor, nontrivial: bool, out: Tensor) -> None:
        """Fills `out` with a function of the whole spectrum: of vertices [n, columns], or of pairs
        [num_graphs, N, N, columns]."""
        sizes = _batch.counts(self.graph)[0]
        small = (
            sizes <= _dense.LARGEST
            if _has_kernel("spectral_sums", self.graph)
            else np.zeros(sizes.size, bool)
        )
        numbers = np.flatnonzero(small & (sizes > 0))
        if numbers.size:
            form = [self.kind, FUNCTIONS[function], int(nontrivial)]
            self._in_kernel("spectral_sums", numbers, form, times, out)
        if not small.all():
            numbers = np.flatnonzero(~small & (sizes > 0))
            _dense.sums(self.graph, numbers, self.kind, function, times, nontrivial, out)

    def _in_kernel(self, name: str, numbers: Any, form: list[int], *rest: Any) -> None:
        """Calls an operator for these graphs, in numbers of the batch."""
        graph, sizes = self.graph, _batch.counts(self.graph)[0]
        quick = float((sizes[numbers].astype(float) ** 3).sum()) < _QUICK
        record, threads = control(), torch.get_num_threads()
        operator: Callable[..., None] = getattr(_ops.ops, name)
        place = torch.from_numpy(numbers).to(graph.device)
        arcs = (graph.rowptr, graph.col, graph.weight, _batch.ends(graph), place)

        def work() -> None:
            operator(*arcs, form, *rest, record, threads)

        total = int(sizes[numbers].sum())
        with progress_bar(total, self.title, self.progress, quick, "vertices") as bar:
            at_work(work, record, bar, graph.device, quick)
            bar.update(total - bar.n)


def _has_kernel(name: str, graph: Graph) -> bool:
    return _ops.has_kernel(name, graph.device)
