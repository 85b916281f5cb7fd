"""torchcent.layout beside the layouts of igraph and NetworkX: stress and seconds of one thread.

    python benchmarks/layout.py          # the table of docs/notes/measures.md
    python benchmarks/layout.py --figure # docs/figures/layout.png

The stress is the mean squared relative error of all distances, at the scale that suits best.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import igraph
import matplotlib
import networkx as nx
import numpy as np
import torch

import torchcent
from torchcent import Graph, generate
from torchcent.plot import plot_network

ROOT = Path(__file__).resolve().parents[1]
FIGURE = ROOT / "docs" / "figures" / "layout.png"
GRAPHS: dict[str, Callable[[], nx.Graph]] = {
    "Les Miserables": nx.les_miserables_graph,
    "karate club": nx.karate_club_graph,
    "grid 20 x 30": lambda: nx.grid_2d_graph(20, 30),
    "tree of 1,093": lambda: nx.balanced_tree(3, 6),
    "BA 1,000": lambda: nx.barabasi_albert_graph(1000, 2, seed=1),
    "road of 880": lambda: largest(nx.Graph(generate.road(30, 30, seed=3).T.tolist())),
}
LARGE = {
    "road": lambda: generate.road(330, 330, seed=3),
    "BA": lambda: generate.ba(100_000, 3, seed=3),
}
HEAD = "| graph | vertices | torchcent | igraph Kamada-Kawai | igraph FR | NetworkX spring |"


def largest(graph: nx.Graph) -> nx.Graph:
    return graph.subgraph(max(nx.connected_components(graph), key=len))


def stress(distance: np.ndarray, places: np.ndarray) -> float:
    pairs = np.triu_indices(len(distance), 1)
    apart = np.sqrt(((places[:, None] - places[None]) ** 2).sum(2))[pairs] / distance[pairs]
    return float(((apart * apart.sum() / (apart**2).sum() - 1) ** 2).mean())


def row(name: str, graph: nx.Graph) -> str:
    graph = nx.convert_node_labels_to_integers(graph)
    n, edges = graph.number_of_nodes(), list(graph.edges())
    ours = Graph.from_edge_index(torch.tensor(edges).T, n, False)
    theirs = igraph.Graph(n=n, edges=edges)
    distance = torchcent.shortest_path_lengths(ours).numpy().astype(float)
    ways: list[Callable[[], np.ndarray]] = [
        lambda: torchcent.layout(ours).numpy(),
        lambda: np.array(theirs.layout_kamada_kawai().coords),
        lambda: np.array(theirs.layout_fruchterman_reingold().coords),
        lambda: np.array(list(nx.spring_layout(graph, weight=None, seed=1).values())),
    ]
    cells = []
    for way in ways:
        begin = time.process_time()
        places = way()
        seconds = time.process_time() - begin
        cells.append(f"{stress(distance, places):.4f} ({seconds:.2f} s)")
    return f"| {name} | {n:,} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", action="store_true")
    if parser.parse_args().figure:
        matplotlib.rc_file(ROOT / "notebooks" / "matplotlibrc")
        people = nx.les_miserables_graph()
        graph = Graph.from_networkx(people).unweighted()
        scores = torchcent.betweenness(graph)
        figure = plot_network(graph, scores=scores, labels=list(people))
        assert figure is not None
        figure.savefig(FIGURE, dpi=90)
        return
    torch.set_num_threads(1)
    torchcent.layout(torch.tensor([[0, 1], [1, 2]]))
    print(HEAD + "\n|---|---:|---|---|---|---|")
    for name, graph in GRAPHS.items():
        print(row(name, graph()), flush=True)
    for name, arcs in LARGE.items():
        large = Graph.from_edge_index(arcs(), directed=False)
        begin = time.process_time()
        torchcent.layout(large)
        seconds = time.process_time() - begin
        print(f"{name}, {large.num_nodes:,} vertices: {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
