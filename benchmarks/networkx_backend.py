"""NetworkX with and without the backend: `python benchmarks/networkx_backend.py [--small]`.

The same calls, once run by NetworkX and once by torchcent, conversion of the graph included. Median
of several runs, of one where a run takes more than ten seconds. `--small` instead finds where calls
on small graphs break even, which is what should_run goes by.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import machine
import networkx as nx

CALLS: dict[str, Callable[[nx.Graph, str], object]] = {
    "betweenness_centrality": lambda g, b: nx.betweenness_centrality(g, backend=b),
    "betweenness_centrality, weights": lambda g, b: nx.betweenness_centrality(
        g, weight="weight", backend=b
    ),
    "betweenness_centrality, k=100": lambda g, b: nx.betweenness_centrality(
        g, k=min(100, len(g)), seed=1, backend=b
    ),
    "edge_betweenness_centrality": lambda g, b: nx.edge_betweenness_centrality(g, backend=b),
    "closeness_centrality": lambda g, b: nx.closeness_centrality(g, backend=b),
    "harmonic_centrality": lambda g, b: nx.harmonic_centrality(g, backend=b),
    "eccentricity": lambda g, b: nx.eccentricity(g, backend=b),
    "diameter": lambda g, b: nx.diameter(g, backend=b),
    "average_shortest_path_length": lambda g, b: nx.average_shortest_path_length(g, backend=b),
    "all_pairs_shortest_path_length": lambda g, b: dict(
        nx.all_pairs_shortest_path_length(g, backend=b)
    ),
    "all_pairs_dijkstra_path_length": lambda g, b: dict(
        nx.all_pairs_dijkstra_path_length(g, backend=b)
    ),
    "shortest_path_length, weights": lambda g, b: dict(
        nx.shortest_path_length(g, weight="weight", backend=b)
    ),
    "shortest_path_length, source and target": lambda g, b: nx.shortest_path_length(
        g, 0, len(g) - 1, backend=b
    ),
    "global_efficiency": lambda g, b: nx.global_efficiency(g, backend=b),
    "local_efficiency": lambda g, b: nx.local_efficiency(g, backend=b),
    "wiener_index": lambda g, b: nx.wiener_index(g, backend=b),
    "barycenter": lambda g, b: nx.barycenter(g, backend=b),
    "global_reaching_centrality": lambda g, b: nx.global_reaching_centrality(g, backend=b),
    "floyd_warshall_numpy": lambda g, b: nx.floyd_warshall_numpy(g, backend=b),
    "girvan_newman, the first two communities": lambda g, b: next(
        nx.community.girvan_newman(g, backend=b)
    ),
    "single_source_shortest_path_length": lambda g, b: nx.single_source_shortest_path_length(
        g, 0, backend=b
    ),
}


def weighted(graph: nx.Graph) -> nx.Graph:
    for i, (_, _, data) in enumerate(graph.edges(data=True)):
        data["weight"] = 1 + i * 7919 % 100
    return graph


def seconds(call: Callable[[nx.Graph, str], object], graph: nx.Graph, backend: str) -> float:
    taken: list[float] = []
    while len(taken) < 5 and sum(taken) < 10:
        graph.__networkx_cache__.clear()
        begin = time.perf_counter()
        call(graph, backend)
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def table(scale: int) -> None:
    graphs = {
        "Barabási-Albert": weighted(nx.barabasi_albert_graph(scale, 8, seed=1)),
        "grid": weighted(
            nx.convert_node_labels_to_integers(
                nx.grid_2d_graph(round(scale**0.5), round(scale**0.5))
            )
        ),
    }
    for name, graph in graphs.items():
        print(f"\n{name}: {len(graph):,} nodes, {graph.number_of_edges():,} edges\n")
        print("| call | NetworkX, s | with torchcent, s | times faster |")
        print("| --- | ---: | ---: | ---: |")
        for call, run in CALLS.items():
            run(graph, "torchcent")
            before, after = seconds(run, graph, "networkx"), seconds(run, graph, "torchcent")
            print(f"| {call} | {before:.3g} | {after:.3g} | {before / after:.2g} |", flush=True)


def small() -> None:
    sizes = [(6, 8), (10, 15), (15, 30), (25, 50), (40, 80), (60, 150)]
    print("times faster, by nodes x edges")
    print(f"{'':36}" + "".join(f"{n * m:>8}" for n, m in sizes))
    for call, run in CALLS.items():
        row = []
        for n, m in sizes:
            graph = weighted(nx.gnm_random_graph(n, m, seed=1))
            for i in range(n - 1):
                graph.add_edge(i, i + 1, weight=1)
            run(graph, "torchcent")
            times = []
            for backend in ("networkx", "torchcent"):
                times.append(statistics.median(seconds(run, graph, backend) for _ in range(9)))
            row.append(times[0] / times[1])
        print(f"{call:36}" + "".join(f"{x:8.2f}" for x in row), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--scale", type=int, default=2500, help="nodes of the graphs")
    given = parser.parse_args()
    nx.config.warnings_to_ignore.add("cache")
    where = machine.conditions()["machine"]
    print(f"NetworkX {nx.__version__}; {where['cpu']}, {where['cores']} cores")
    small() if given.small else table(given.scale)


if __name__ == "__main__":
    main()
