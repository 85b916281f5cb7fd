"""Information about the backend torchcent, requested by NetworkX at import time.

This is a separate module outside of the package: `import networkx` runs :func:`get_info`, which
must not import PyTorch.
"""

from typing import Any

_EXACT = "Paths are counted in float64; ties are exact, as in NetworkX."
_SEARCH = "Only worth its conversion if the graph is converted already: see should_run."
_HOPS = "Only without weights: with them the result depends on which of equal paths is taken."
_SAME_EDGES = "Removes the same edges as NetworkX, without converting the graph at each step."
_UNCHANGED = "Only with backend='torchcent', since NetworkX modifies the graph; this does not."
_ALL_TARGETS = "Only where every node is a target: elsewhere NetworkX departs from its own formula."
_SMALL_GROUPS = "Groups of one or two nodes: for larger ones NetworkX departs from its own formula."
_FLOW = "Connected graphs without self-loops; the pairs of a seed are NetworkX's."
_FLOW_SUBSET = "Connected graphs without self-loops; sources and targets without repetitions."
_CONVERGED = "Converged to 1e-10, or to a smaller tol; without nstart=."

FUNCTIONS = {
    "all_pairs_dijkstra_path_length": "",
    "all_pairs_shortest_path_length": "",
    "ancestors": _SEARCH,
    "approximate_current_flow_betweenness_centrality": _FLOW,
    "average_shortest_path_length": "",
    "barycenter": "",
    "betweenness_centrality": _EXACT,
    "betweenness_centrality_subset": _EXACT,
    "center": "",
    "closeness_centrality": "",
    "clustering": "Without nodes=.",
    "core_number": "",
    "current_flow_betweenness_centrality": _FLOW,
    "current_flow_betweenness_centrality_subset": _FLOW_SUBSET,
    "current_flow_closeness_centrality": "",
    "descendants": _SEARCH,
    "diameter": "",
    "dijkstra_path_length": _SEARCH,
    "eccentricity": "",
    "edge_betweenness_centrality": _EXACT,
    "edge_betweenness_centrality_subset": _ALL_TARGETS,
    "edge_current_flow_betweenness_centrality": _FLOW,
    "edge_current_flow_betweenness_centrality_subset": _FLOW_SUBSET,
    "eigenvector_centrality": _CONVERGED,
    "edge_betweenness_partition": _SAME_EDGES,
    "effective_graph_resistance": "",
    "floyd_warshall_numpy": "",
    "girvan_newman": _SAME_EDGES,
    "global_efficiency": "",
    "global_reaching_centrality": _HOPS,
    "group_betweenness_centrality": _SMALL_GROUPS,
    "group_closeness_centrality": _SEARCH,
    "gutman_index": "",
    "harmonic_centrality": "",
    "harmonic_diameter": "",
    "hyper_wiener_index": "",
    "incremental_closeness_centrality": _UNCHANGED,
    "local_efficiency": "",
    "local_reaching_centrality": _HOPS,
    "hits": _CONVERGED,
    "katz_centrality": _CONVERGED,
    "pagerank": _CONVERGED,
    "percolation_centrality": _EXACT,
    "periphery": "",
    "radius": "",
    "resistance_distance": "",
    "schultz_index": "",
    "shortest_path_length": "",
    "single_source_dijkstra_path_length": _SEARCH,
    "single_source_shortest_path_length": _SEARCH,
    "single_target_shortest_path_length": _SEARCH,
    "subgraph_centrality": "",
    "transitive_closure": "Returns a NetworkX graph.",
    "triangles": "Without nodes=.",
    "wiener_index": "",
}

ENGINES = ("auto", "lanes", "queue", "bits", "relax", "dijkstra", "tiny", "tensor")


def functions() -> dict[str, str]:
    """FUNCTIONS by the names of the installed NetworkX, which renamed barycenter in 3.7.

    The centroid of NetworkX 3.6 is another function, for trees.
    """
    from networkx import __version__

    names = dict(FUNCTIONS)
    if tuple(map(int, __version__.split(".")[:2])) >= (3, 7):
        names["centroid"] = names.pop("barycenter")
    return names


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
