"""Choice of the engine and of the memory limits, before the first iteration."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from torchcent.clustering import _flow, _pieces, _tensor
from torchcent.clustering._flow import Flow
from torchcent.clustering._rules import Rules, step_memory
from torchcent.runtime import _html, _memory, _ops
from torchcent.runtime._memory import readable

ENGINES = ("auto", "fused", "dense", "tensor")
OPERATOR = "mcl_iterate"
# Products that a matrix product computes in the time of one product of a sparse column, and the
# size up to which only the overhead of a call matters. On the CPU, the fused engine breaks even at
# 2 for full matrices and at 4 to 9 for matrices of density 1/3. On an H200, fused columns reach
# 4.4e11 products per second and float32 matrices 2.5e13.
GEMM_GAIN: dict[tuple[str, str], float] = {
    ("cpu", "fused"): 4, ("cpu", "tensor"): 400, ("cuda", "fused"): 50, ("cuda", "tensor"): 4000,
}  # fmt: skip
SMALL: dict[tuple[str, str], int] = {
    ("cpu", "fused"): 0, ("cpu", "tensor"): 96, ("cuda", "fused"): 1024, ("cuda", "tensor"): 1024,
}  # fmt: skip
# Bytes of the dense engine per entry of [n, n]: the flow, its power, and the arrays of pruning.
DENSE_BYTES = 32
_TENSOR_ENTRY = 36  # of the tensor engine, which holds new entries in blocks, then joined
# Bytes per thread of the fused engine: per vertex, and its chunk of new entries (flow_store.h).
_PER_NODE, _CHUNK = 24, 2**21
# Bytes per vertex of an iteration in pieces: the columns of flows, the tables of their orders; per
# thread, all that a kernel can touch.
_IN_PIECES, _PER_THREAD = 250, 280
# More of it with 16 columns side by side, and the size of graph up to which AVX-512 has these
# (flow_step in flow_kernel.h).
_WIDE, _WIDE_NODES = 65, 8192


@dataclass(frozen=True)
class MclPlan:
    """The execution plan of Markov clustering; printable.

    Attributes:
        engine: "fused", "dense" or "tensor".
        reason: why this engine was selected.
        device: the device it runs on.
        num_nodes: n.
        entries: entries of the initial flow, including loops.
        products: multiplications of the first expansion.
        expanded: maximum number of entries of the flow after the first expansion and pruning.
        threads: number of CPU threads.
        memory: maximum bytes of the first iteration, and of one from a flow of maximum size.
        memory_limit: the limit in bytes.
        overhead: the part of these bytes that does not belong to either flow.
        may_switch: whether another engine may take over when the flow becomes dense or sparse.
        pieces: number of pieces of the first expansion; more than 1 if flows do not fit in memory
            (docs/clustering.md).
    """

    engine: str
    reason: str
    device: torch.device
    num_nodes: int
    entries: int
    products: int
    expanded: int
    threads: int
    memory: int
    memory_limit: int
    overhead: int
    may_switch: bool
    pieces: int = 1

    @property
    def _rows(self) -> dict[str, str]:
        return {
            "measure": "mcl",
            "engine": f"{self.engine}: {self.reason}",
            "device": f"{self.device}" + (f", {self.threads} threads" if self.threads else ""),
            "graph": f"{self.num_nodes:,} vertices, {self.entries:,} entries of the flow",
            "expansion": f"{self.products:,} products, at most {self.expanded:,} entries kept",
            "memory": f"{readable(self.memory)} of {readable(self.memory_limit)} allowed"
            + (f", in {self.pieces:,} pieces" if self.pieces > 1 else ""),
        }

    def __str__(self) -> str:
        return "\n".join(f"{name:<9} {text}" for name, text in self._rows.items())

    def _repr_html_(self) -> str:
        """A table, in notebooks."""
        return _html.rows("Plan", self._rows)


def plan(
    flow: Flow, rules: Rules, engine: str, memory: int | None, ranks: tuple[int, int] | None = None
) -> MclPlan:
    """The plan of a run that starts from this flow; `ranks`: the number of ranks that share it, and
    their limit. MemoryError if it does not fit, ValueError if the engine cannot run on this device.
    """
    count, limit = (1, _memory.budget(memory, flow.device)) if ranks is None else ranks
    n, work = flow.num_nodes, products(flow, rules.expansion)
    most = step_memory(flow, rules)
    expanded = int(most.sum())
    largest = max(flow.nbytes, _pieces.ENTRY * expanded)
    name, reason = _choose(flow, engine, work, limit - largest)
    each, slack, overhead = _bytes(name, flow)
    need = largest + each * expanded + slack + overhead
    pieces = 1
    if count > 1:  # the share of a rank beside the whole
        need += each * -(-expanded // count)
    elif need > limit and name == "fused" and ranks is None:
        base = flow.nbytes + beside_pieces(flow.device, n)
        copies = _pieces.COPIES * _pieces.ENTRY
        least = copies * _pieces.COLUMNS * (int(most.max()) if n else 0)
        need = min(need, base + least)
        if need <= limit:
            pieces = max(-(-copies * expanded // max(limit - base, 1)), 1)
            need = base + max(least, copies * -(-expanded // pieces))
    what = f"mcl with engine={name!r}, up to {expanded:,} entries after the first expansion,"
    _memory.require(what, need, limit, memory)
    return MclPlan(
        name, reason, device=flow.device, num_nodes=n, entries=flow.entries, products=int(work),
        expanded=expanded, threads=torch.get_num_threads() if flow.device.type == "cpu" else 0,
        memory=need, memory_limit=limit, overhead=overhead,
        may_switch=engine == "auto" and DENSE_BYTES * n * n + flow.nbytes <= limit, pieces=pieces,
    )  # fmt: skip


def beside_pieces(device: torch.device, n: int) -> int:
    """Bytes of an iteration in pieces that are not for entries."""
    if device.type != "cpu":
        return _IN_PIECES * n + _flow.BYTES_AT_A_TIME * _flow.AT_A_TIME_ON_ACCELERATOR
    threads = max(torch.get_num_threads(), 1)
    each = _PER_THREAD + (_WIDE if n <= _WIDE_NODES else 0)
    return (_IN_PIECES + each * threads) * n + _flow.BYTES_AT_A_TIME * _flow.AT_A_TIME


def products(flow: Flow, expansion: int = 2) -> float:
    """Multiplications of a column-by-column expansion of the flow."""
    work = flow.length.double()
    for _ in range(expansion - 1):
        work = flow.sums(work)
    return float(work.sum())


def compiled(device: torch.device) -> bool:
    return _ops.has_kernel(OPERATOR, device)


def sparse_engine(device: torch.device) -> str:
    return "fused" if compiled(device) else "tensor"


def dense_pays(device: torch.device, n: int, work: float) -> bool:
    """Whether a matrix product on [n, n] is faster than `work` products of sparse columns."""
    key = ("cpu" if device.type == "cpu" else "cuda", sparse_engine(device))
    return n <= SMALL[key] or float(n) ** 3 < GEMM_GAIN[key] * work


def _choose(flow: Flow, engine: str, work: float, space: int) -> tuple[str, str]:
    n, device = flow.num_nodes, flow.device
    if engine == "fused" and not compiled(device):
        raise ValueError(
            f"engine='fused' has no compiled kernels for {device}; use 'dense' or 'tensor'"
            if _ops.available
            else "engine='fused' needs the compiled extension; use 'dense' or 'tensor'"
        )
    if engine != "auto":
        return engine, "asked for"
    sparse = sparse_engine(device)
    if DENSE_BYTES * n * n > space:
        return sparse, f"a matrix of {n:,} x {n:,} does not fit"
    if dense_pays(device, n, work):
        share = flow.entries / max(n * n, 1)
        return "dense", f"{share:.0%} of the {n:,} x {n:,} matrix are entries"
    why = f"{work:,.0f} products are few beside {n:,}^3"
    return sparse, why if sparse == "fused" else f"{why}; no compiled kernels for {device}"


def _bytes(engine: str, flow: Flow) -> tuple[int, int, int]:
    """Bytes per entry of the next flow; maximum bytes unused; other bytes of an iteration."""
    n = flow.num_nodes
    if engine == "dense":
        return 0, 0, DENSE_BYTES * n * n
    if engine == "tensor":
        largest = _tensor.PRODUCTS if flow.device.type == "cpu" else _tensor.PRODUCTS_ON_ACCELERATOR
        block = int(min(largest, products(flow)))
        return _TENSOR_ENTRY, 0, 12 * flow.entries + _tensor.BYTES_PER_PRODUCT * block
    if flow.device.type == "cuda":  # lists of columns; a block's places for every row
        return _pieces.ENTRY, 36 * n, 20 * n
    threads = max(torch.get_num_threads(), 1)
    return _pieces.ENTRY, 12 * n + _CHUNK * threads, _PER_NODE * n * threads
