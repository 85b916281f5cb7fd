"""Information about the backend torchcent, requested by NetworkX at import time.

This is a separate module outside of the package: `import networkx` runs :func:`get_info`, which
must not import PyTorch.
"""

from typing import Any

# BEGIN: written by tools/networkx_functions.py from the declarations in torchcent/nx
# fmt: off
FUNCTIONS = {
    "all_pairs_dijkstra_path_length": "",
    "all_pairs_shortest_path_length": "",
    "ancestors": "Only worth its conversion if the graph is converted already: see should_run.",
    "approximate_current_flow_betweenness_centrality":
        "Connected graphs without self-loops; the pairs of a seed are NetworkX's.",
    "average_shortest_path_length": "",
    "barycenter": "",
    "betweenness_centrality": "Paths are counted in float64; ties are exact, as in NetworkX.",
    "betweenness_centrality_subset":
        "Paths are counted in float64; ties are exact, as in NetworkX.",
    "center": "",
    "closeness_centrality": "",
    "clustering": "Without nodes=.",
    "core_number": "",
    "current_flow_betweenness_centrality":
        "Connected graphs without self-loops; the pairs of a seed are NetworkX's.",
    "current_flow_betweenness_centrality_subset":
        "Connected graphs without self-loops; sources and targets without repetitions.",
    "current_flow_closeness_centrality": "",
    "descendants": "Only worth its conversion if the graph is converted already: see should_run.",
    "diameter": "",
    "dijkstra_path_length":
        "Only worth its conversion if the graph is converted already: see should_run.",
    "eccentricity": "",
    "edge_betweenness_centrality": "Paths are counted in float64; ties are exact, as in NetworkX.",
    "edge_betweenness_centrality_subset":
        "Only where every node is a target: elsewhere NetworkX departs from its own formula.",
    "edge_betweenness_partition":
        "Removes the same edges as NetworkX, without converting the graph at each step.",
    "edge_current_flow_betweenness_centrality":
        "Connected graphs without self-loops; the pairs of a seed are NetworkX's.",
    "edge_current_flow_betweenness_centrality_subset":
        "Connected graphs without self-loops; sources and targets without repetitions.",
    "effective_graph_resistance": "",
    "eigenvector_centrality": "Converged to 1e-10, or to a smaller tol; without nstart=.",
    "floyd_warshall_numpy": "",
    "girvan_newman":
        "Removes the same edges as NetworkX, without converting the graph at each step.",
    "global_efficiency": "",
    "global_reaching_centrality":
        "Only without weights: with them the result depends on which of equal paths is taken.",
    "group_betweenness_centrality":
        "Groups of one or two nodes: for larger ones NetworkX departs from its own formula.",
    "group_closeness_centrality":
        "Only worth its conversion if the graph is converted already: see should_run.",
    "gutman_index": "",
    "harmonic_centrality": "",
    "harmonic_diameter": "",
    "hits": "Converged to 1e-10, or to a smaller tol; without nstart=.",
    "hyper_wiener_index": "",
    "incremental_closeness_centrality":
        "Only with backend='torchcent', since NetworkX modifies the graph; this does not.",
    "katz_centrality": "Converged to 1e-10, or to a smaller tol; without nstart=.",
    "local_efficiency": "",
    "local_reaching_centrality":
        "Only without weights: with them the result depends on which of equal paths is taken.",
    "newman_betweenness_centrality": "Without weights, and for all nodes.",
    "pagerank": "Converged to 1e-10, or to a smaller tol; without nstart=.",
    "percolation_centrality": "Paths are counted in float64; ties are exact, as in NetworkX.",
    "periphery": "",
    "radius": "",
    "resistance_distance": "",
    "schultz_index": "",
    "shortest_path_length": "",
    "single_source_dijkstra_path_length":
        "Only worth its conversion if the graph is converted already: see should_run.",
    "single_source_shortest_path_length":
        "Only worth its conversion if the graph is converted already: see should_run.",
    "single_target_shortest_path_length":
        "Only worth its conversion if the graph is converted already: see should_run.",
    "subgraph_centrality": "",
    "transitive_closure": "Returns a NetworkX graph.",
    "transitivity": "",
    "triangles": "Without nodes=.",
    "wiener_index": "",
}
# fmt: on
# END

ENGINES = ("auto", "lanes", "queue", "bits", "relax", "dijkstra", "tiny", "tensor", "reference")


def present_name(name: str) -> str:
    """The name in the installed NetworkX, which renamed barycenter in 3.7.

    The centroid of NetworkX 3.6 is another function, for trees.
    """
    if name != "barycenter":
        return name
    from networkx import __version__

    return "centroid" if tuple(map(int, __version__.split(".")[:2])) >= (3, 7) else name


def functions() -> dict[str, str]:
    """FUNCTIONS by the names of the installed NetworkX."""
    return {present_name(name): text for name, text in FUNCTIONS.items()}


def get_info() -> dict[str, Any]:
    """The entry point ``networkx.backend_info``."""
    return {
        "backend_name": "torchcent",
        "project": "torchcent",
        "package": "torchcent",
        "short_summary": "Exact centrality and distances, compiled, on CPU and CUDA.",
        "functions": {
            name: {"additional_docs": text} if text else {} for name, text in functions().items()
        },
        "default_config": _default_config(),
    }


def _default_config() -> Any:
    from networkx.utils.configs import Config  # not at the top: networkx may not be installed

    class TorchcentConfig(Config):
        """Configuration of the backend torchcent.

        device : str
            The device: "cpu", "cuda", "cuda:1", ...
        engine : str
            "auto", or an engine of torchcent, which is used wherever it is applicable.
        threads : int or None
            The number of CPU threads; None means torch.get_num_threads().
        """

        device: str
        engine: str
        threads: int | None

        def _on_setattr(self, key: str, value: object) -> object:
            if key == "engine" and value not in ENGINES:
                raise ValueError(f"engine must be one of {', '.join(ENGINES)}; got {value!r}")
            if key == "device" and not isinstance(value, str):
                raise TypeError(f"device must be a str such as 'cpu' or 'cuda', got {value!r}")
            if key == "threads" and value is not None:
                if isinstance(value, bool) or not isinstance(value, int):
                    raise TypeError(f"threads must be an int or None, got {value!r}")
                if value < 1:
                    raise ValueError(f"threads must be at least 1, or None; got {value}")
            return value

    return TorchcentConfig(device="cpu", engine="auto", threads=None)
