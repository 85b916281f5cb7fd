"""multi_search.h and multi_search.cuh: the operators built on them, and one of a user's."""

import math
import os
import re
import shutil
import subprocess
import sys
import warnings
from heapq import heappop, heappush
from pathlib import Path

import networkx as nx
import oracles
import pytest
import torch
from graphs import (
    ASSORTED,
    LEAFY,
    arc_lists,
    diamonds,
    edge_index,
    networkx_graph,
    random_graph,
    star,
    subsets,
)
from hypothesis import given
from hypothesis import strategies as st
from torch.utils import cpp_extension

import torchcent
from torchcent import Graph

INCLUDE = Path(torchcent.include_path())
PAGE = (Path(__file__).parents[1] / "docs" / "multi_search.md").read_text()
INLINE = next(
    block
    for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    if "load_inline" in block
)

needs_operators = pytest.mark.skipif(
    bool(os.environ.get("TORCHCENT_NO_EXTENSION")),
    reason="TORCHCENT_NO_EXTENSION is set: no operators",
)


def on_cpu(n: int, arcs: oracles.Arcs, directed: bool = True) -> Graph:
    return Graph.from_edge_index(edge_index(arcs).cpu(), n, directed)


def summary(distance: list[int | None]) -> list[int]:
    """Eccentricity within what is reached, the lowest id that far away, how many are reached."""
    reached = {v: d for v, d in enumerate(distance) if d is not None}
    farthest = max(reached.values())
    return [farthest, min(v for v, d in reached.items() if d == farthest), len(reached)]


# --- our own operators


@needs_operators
@given(data=st.data(), directed=st.booleans(), threads=st.integers(1, 4))
def test_search_summary(data, directed, threads):
    n, arcs = data.draw(arc_lists(12).filter(lambda graph: graph[0] > 0))
    sources = data.draw(st.lists(st.integers(0, n - 1), max_size=2 * n))  # repeated ones as well
    graph = on_cpu(n, arcs, directed)
    control = torch.zeros(4, dtype=torch.int64)
    rows = torch.ops.torchcent.search_summary(
        graph.rowptr, graph.col, torch.tensor(sources, dtype=torch.int64), control, threads
    )
    distance = oracles.shortest_paths(n, arcs if directed else oracles.both_ways(arcs))[0]
    assert rows.tolist() == [summary(distance[source]) for source in sources]
    assert rows.shape == (len(sources), 3) and rows.dtype == torch.int64
    assert control.tolist() == [0, len(sources), 0, 0]


def reached(neighbours: list[list[int]], source: int, limit: int) -> dict[int, int]:
    """Depths of the vertices up to `limit`, in the order in which a queue finds them."""
    depth = {source: 0}
    for u in (queue := [source]):
        for v in neighbours[u] if depth[u] < limit else ():
            if v not in depth:
                depth[v] = depth[u] + 1
                queue.append(v)
    return depth


@needs_operators
@given(data=st.data(), limit=st.integers(0, 12), threads=st.integers(1, 4))
def test_search_order(data, limit, threads):
    n, arcs = data.draw(arc_lists(12).filter(lambda graph: graph[0] > 0))
    sources = data.draw(st.lists(st.integers(0, n - 1), max_size=2 * n))
    neighbours = [[v for u, v in arcs if u == source] for source in range(n)]  # in any order
    rowptr = torch.tensor([0, *map(len, neighbours)]).cumsum(0)
    col = torch.tensor([v for row in neighbours for v in row], dtype=torch.int32)
    order = torch.full((len(sources), n), -2, dtype=torch.int32)
    depth, control = order.clone(), torch.zeros(4, dtype=torch.int64)
    torch.ops.torchcent.search_order(
        rowptr, col, torch.tensor(sources, dtype=torch.int64), limit, order, depth, control, threads
    )
    assert control.tolist() == [0, len(sources), 0, 0]
    for source, vertices, depths in zip(sources, order.tolist(), depth.tolist(), strict=True):
        expected = reached(neighbours, source, limit)
        size = len(expected)
        assert list(zip(vertices[:size], depths[:size], strict=True)) == list(expected.items())
        assert vertices[size:] == [-1, *[-2] * n][: n - size]


def settled(neighbours: list[list[tuple[int, float]]], source: int) -> dict[int, float]:
    """Distances by Dijkstra's algorithm; of equal ones, what was pushed first comes first."""
    distance: dict[int, float] = {}
    seen, pushed = {source: 0.0}, 1
    heap = [(0.0, 0, source)]
    while heap:
        far, _, u = heappop(heap)
        if u in distance:
            continue
        distance[u] = far
        for v, length in neighbours[u]:
            if v not in distance and far + length < seen.get(v, math.inf):
                seen[v] = far + length
                heappush(heap, (seen[v], pushed, v))
                pushed += 1
    return distance


@needs_operators
@given(data=st.data(), threads=st.integers(1, 4))
def test_length_order(data, threads):
    n, arcs = data.draw(arc_lists(12).filter(lambda graph: graph[0] > 0))
    length = st.sampled_from([1.0, 2.0, 3.0, 0.1, 0.2])
    neighbours = [[(v, data.draw(length)) for u, v in arcs if u == source] for source in range(n)]
    sources = data.draw(st.lists(st.integers(0, n - 1), max_size=2 * n))
    expected = [settled(neighbours, source) for source in sources]
    distance = [[found.get(v, math.inf) for v in range(n)] for found in expected]
    order = torch.full((len(sources), n), -2, dtype=torch.int32)
    torch.ops.torchcent.length_order(
        torch.tensor([0, *map(len, neighbours)]).cumsum(0),
        torch.tensor([v for row in neighbours for v, _ in row], dtype=torch.int32),
        torch.tensor([x for row in neighbours for _, x in row], dtype=torch.float64),
        torch.tensor(distance, dtype=torch.float64).reshape(-1, n),
        *(order, torch.zeros(4, dtype=torch.int64), threads),
    )
    assert order.tolist() == [[*found, *[-1] * (n - len(found))] for found in expected]


@needs_operators
@pytest.mark.parametrize("name", ASSORTED)
def test_search_summary_of_networkx(name):
    n, arcs = ASSORTED[name]
    graph = on_cpu(n, arcs, directed=False)
    control = torch.zeros(4, dtype=torch.int64)
    rows = torch.ops.torchcent.search_summary(
        graph.rowptr, graph.col, torch.arange(n), control, 2
    ).tolist()
    theirs = networkx_graph(n, arcs, directed=False)
    for component in nx.connected_components(theirs):
        part = theirs.subgraph(component)
        eccentricity = nx.eccentricity(part)
        for v in component:
            assert rows[v][0] == eccentricity[v]
            assert rows[v][2] == len(component)


@needs_operators
@given(data=st.data())
def test_depths(data):
    n, arcs = data.draw(arc_lists().filter(lambda graph: graph[0] > 0))
    (source,) = data.draw(subsets(n).map(lambda ids: ids[:1]))
    graph = on_cpu(n, arcs)
    expected = oracles.shortest_paths(n, arcs)[0][source]
    depth = torch.ops.torchcent.depths(graph.rowptr, graph.col, source)
    assert depth.tolist() == [-1 if d is None else d for d in expected]
    assert depth.dtype == torch.int32


@needs_operators
def test_a_cancelled_search_stops():
    graph = on_cpu(50, random_graph(50, 200, seed=2))
    control = torch.tensor([1, 0, 0, 0])
    rows = torch.ops.torchcent.search_summary(graph.rowptr, graph.col, torch.arange(50), control, 2)
    assert control.tolist() == [1, 0, 0, 0]
    assert not rows.any()


# --- the headers


def example_of(header: str) -> list[str]:
    """The lines of code at the head of a header."""
    comment = (INCLUDE / header).read_text().split("#pragma once")[0]
    code = [line[2:] for line in comment.splitlines() if line.startswith("//   ")]
    return [line.strip() for line in code if line.strip()]


def test_the_example_of_the_header_is_that_of_the_page():
    lines = example_of("multi_search.h")
    visitor = lines[lines.index("struct HopCount : torchcent::Visitor {") : lines.index("};")]
    assert len(visitor) == 5
    for line in visitor:
        assert line in INLINE


def test_headers_are_with_the_package():
    for name in ("csr.h", "multi_search.h", "multi_search.cuh"):
        assert (INCLUDE / name).is_file()
    assert isinstance(torchcent.include_path(), str)


TOLD = r"""
#include "multi_search.h"

#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

using torchcent::SearchState;

// Writes down what the hooks are told; fails at a slot.
struct Told : torchcent::Visitor {
  std::string* told;  // [sources]
  int levels;
  int64_t failing;

  template <class... Numbers>
  void note(const SearchState& search, const char* hook, Numbers... numbers) {
    told[search.lane] += hook;
    ((told[search.lane] += " " + std::to_string(numbers)), ...);
    told[search.lane] += "\n";
  }
  void frontier(const SearchState& search, const char* hook) {
    note(search, hook, search.level, search.end);
    for (int p = search.begin; p < search.end; ++p) note(search, "at", search.queue[p]);
  }
  void init(const SearchState& search) { frontier(search, "init"); }
  bool prior(const SearchState& search) { return frontier(search, "prior"), search.level < levels; }
  void visit(const SearchState& search, int32_t u, int32_t v, int64_t slot) {
    if (slot == failing) throw std::runtime_error("of my own");
    note(search, "visit", u, v, slot, search.depth[v]);
  }
  void post(const SearchState& search) { frontier(search, "post"); }
  void finalize(const SearchState& search) {
    for (int v = 0; v < search.graph.num_nodes; ++v) note(search, "finalize", v, search.depth[v]);
  }
};

int main(int, char** arguments) {  // threads levels failing < n m rowptr col; from all vertices
  int64_t n, m;
  std::cin >> n >> m;
  std::vector<int64_t> rowptr(n + 1), sources(n);
  std::vector<int32_t> col(m);
  for (int64_t& x : rowptr) std::cin >> x;
  for (int32_t& x : col) std::cin >> x;
  for (int64_t v = 0; v < n; ++v) sources[v] = v;
  std::vector<std::string> told(n);
  const int threads = std::atoi(arguments[1]);
  const Told visitor = {{}, told.data(), std::atoi(arguments[2]), std::atoi(arguments[3])};
  try {
    torchcent::multi_search({n, rowptr.data(), col.data()}, sources.data(), n, visitor, threads);
  } catch (const std::runtime_error& error) {
    std::cout << error.what();
    return 0;
  }
  for (const std::string& of_source : told) std::cout << of_source << "next\n";
}
"""


def expected_hooks(n: int, slots: oracles.Arcs, source: int, levels: int) -> list[str]:
    """What the hooks of one search must be told, a line each."""
    depth = {v: -1 for v in range(n)}
    depth[source] = 0
    frontier, level = [source], 0
    at = [f"at {source}"]
    told = ["init 0 1", *at]
    while frontier:
        told += [f"prior {level} {sum(d >= 0 for d in depth.values())}", *at]
        if level == levels:
            break
        arcs = [(u, v, slot) for slot, (u, v) in enumerate(slots) if u in frontier]
        for _, v, _ in arcs:
            if depth[v] < 0:
                depth[v] = level + 1
        told += [f"visit {u} {v} {slot} {depth[v]}" for u, v, slot in arcs]
        level += 1
        frontier = [v for v in depth if depth[v] == level]
        at = [f"at {v}" for v in frontier]
        told += [f"post {level} {sum(d >= 0 for d in depth.values())}", *at]
    return told + [f"finalize {v} {d}" for v, d in depth.items()]


@pytest.mark.slow
def test_what_the_hooks_are_told(tmp_path):
    """Hook by hook; within a level the order is that of the queue and means nothing."""
    compiler = compiler_or_skip()
    source, program = tmp_path / "told.cpp", tmp_path / "told"
    source.write_text(TOLD)
    flags = ["-std=c++17", "-O1", "-pthread", "-Wall", "-Werror", f"-I{INCLUDE}"]
    subprocess.run([compiler, *flags, "-o", program, source], check=True)

    def run(graph: Graph, threads: int, levels: int, failing: int) -> str:
        numbers = [graph.num_nodes, graph.num_slots, *graph.rowptr.tolist(), *graph.col.tolist()]
        command = [program, str(threads), str(levels), str(failing)]
        done = subprocess.run(
            command, input=" ".join(map(str, numbers)), capture_output=True, text=True, check=True
        )
        return done.stdout

    for n, arcs in ((0, []), (1, []), *LEAFY.values(), (20, random_graph(20, 60, seed=1))):
        graph = on_cpu(n, arcs, directed=False)
        slots = list(zip(*graph.to_edge_index().tolist(), strict=True))
        for threads, levels in ((1, 99), (3, 99), (2, 2)):
            told = run(graph, threads, levels, failing=-1).split("next\n")[:-1]
            assert len(told) == n
            for v, lines in enumerate(told):
                expected = expected_hooks(n, slots, v, levels)
                assert sorted(lines.splitlines()) == sorted(expected)
                hooks = [line for line in expected if line[:2] not in ("at", "vi")]
                assert [x for x in lines.splitlines() if x[:2] not in ("at", "vi")] == hooks
    assert run(graph, 3, 99, failing=7) == "of my own"


def compiler_or_skip() -> str:
    compiler = cpp_extension.get_cxx_compiler()
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no C++ compiler: {compiler} is not found (CXX names another)")
    return compiler


@pytest.mark.slow
@needs_operators
def test_a_measure_of_one_s_own(tmp_path, monkeypatch):
    """The example of docs/multi_search.md, compiled."""
    compiler_or_skip()
    # pip puts ninja beside Python, which need not be on the PATH.
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"])
    if shutil.which("ninja") is None:
        pytest.skip("ninja is not installed (pip install ninja)")
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    names: dict = {"torch": torch, "torchcent": torchcent}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of PyTorch, on compilers and architectures
        exec(INLINE, names)
    for n, arcs in (
        *ASSORTED.values(),
        (31, diamonds(10)),
        (1, []),
        (2000, star(1999)),
    ):
        graph = on_cpu(n, arcs)
        theirs = networkx_graph(n, arcs, directed=True)
        sources = torch.arange(min(n, 200))
        for k in (0, 1, 3):
            counts = names["hop_count"](graph, sources, k)
            assert counts.tolist() == [
                len(nx.single_source_shortest_path_length(theirs, v, cutoff=k))
                for v in sources.tolist()
            ]


ON_BOTH = """
#include "multi_search.cuh"

#include <cstdio>

struct HopCount : torchcent::Visitor {
  int64_t k;
  int64_t* count;  // [sources]
%s
};

using torchcent::Csr;

cudaError_t hop_count(Csr graph, const int64_t* sources, int64_t number, HopCount visitor,
                      int32_t* workspace, int blocks, cudaStream_t stream) {
  return torchcent::cuda::multi_search(graph, sources, number, visitor, workspace, blocks, stream);
}

// The same visitor on the host.
void hop_count(Csr graph, const int64_t* sources, int64_t number, HopCount visitor) {
  torchcent::multi_search(graph, sources, number, visitor, 2);
}
"""


@pytest.mark.slow
def test_cuda_header_compiles(tmp_path):
    """With the hooks of its own example; compiled only, which needs no GPU."""
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not here")
    lines = example_of("multi_search.cuh")
    begin = next(i for i, line in enumerate(lines) if "bool prior" in line)
    end = next(i for i, line in enumerate(lines) if line.startswith("const torchcent::Csr"))
    source = tmp_path / "hop_count.cu"
    source.write_text(ON_BOTH % "\n".join(lines[begin:end]))
    command = ["nvcc", "-c", "-std=c++20", "-arch=sm_90", f"-I{INCLUDE}", "-o", tmp_path / "out.o"]
    run = subprocess.run([*command, source], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "warning" not in run.stderr
