"""The NetworkX backend, called by NetworkX's dispatcher (docs/networkx.md).

NetworkX finds this module through its entry point, converts graphs with :func:`convert_from_nx`,
queries :func:`can_run` and :func:`should_run`, and calls the function of the same name.
"""

from torchcent.runtime._optional import need

need("networkx", "networkx", "torchcent.nx")

from torchcent.nx._betweenness import (  # noqa: E402
    betweenness_centrality,
    betweenness_centrality_subset,
    edge_betweenness_centrality,
    edge_betweenness_centrality_subset,
    percolation_centrality,
)
from torchcent.nx._closeness import (  # noqa: E402
    closeness_centrality,
    harmonic_centrality,
    incremental_closeness_centrality,
)
from torchcent.nx._closure import ancestors, descendants, transitive_closure  # noqa: E402
from torchcent.nx._communities import edge_betweenness_partition, girvan_newman  # noqa: E402
from torchcent.nx._dispatch import can_run, should_run  # noqa: E402
from torchcent.nx._distances import (  # noqa: E402
    average_shortest_path_length,
    center,
    diameter,
    eccentricity,
    periphery,
    radius,
)
from torchcent.nx._flow import (  # noqa: E402
    approximate_current_flow_betweenness_centrality,
    current_flow_betweenness_centrality,
    current_flow_betweenness_centrality_subset,
    current_flow_closeness_centrality,
    edge_current_flow_betweenness_centrality,
    edge_current_flow_betweenness_centrality_subset,
    effective_graph_resistance,
    resistance_distance,
)
from torchcent.nx._graph import BackendGraph, convert_from_nx, convert_to_nx  # noqa: E402
from torchcent.nx._groups import (  # noqa: E402
    group_betweenness_centrality,
    group_closeness_centrality,
)
from torchcent.nx._lengths import (  # noqa: E402
    all_pairs_dijkstra_path_length,
    all_pairs_shortest_path_length,
    dijkstra_path_length,
    shortest_path_length,
    single_source_dijkstra_path_length,
    single_source_shortest_path_length,
    single_target_shortest_path_length,
)
from torchcent.nx._local import local_efficiency  # noqa: E402
from torchcent.nx._sums import (  # noqa: E402
    barycenter,
    centroid,
    floyd_warshall_numpy,
    global_efficiency,
    global_reaching_centrality,
    gutman_index,
    harmonic_diameter,
    hyper_wiener_index,
    local_reaching_centrality,
    schultz_index,
    wiener_index,
)
from torchcent.nx._walks import (  # noqa: E402
    clustering,
    core_number,
    eigenvector_centrality,
    hits,
    katz_centrality,
    pagerank,
    subgraph_centrality,
    triangles,
)

__all__ = [
    "BackendGraph",
    "all_pairs_dijkstra_path_length",
    "all_pairs_shortest_path_length",
    "ancestors",
    "approximate_current_flow_betweenness_centrality",
    "average_shortest_path_length",
    "barycenter",
    "betweenness_centrality",
    "betweenness_centrality_subset",
    "can_run",
    "center",
    "centroid",
    "closeness_centrality",
    "clustering",
    "convert_from_nx",
    "convert_to_nx",
    "core_number",
    "current_flow_betweenness_centrality",
    "current_flow_betweenness_centrality_subset",
    "current_flow_closeness_centrality",
    "descendants",
    "diameter",
    "dijkstra_path_length",
    "eccentricity",
    "edge_betweenness_centrality",
    "edge_betweenness_centrality_subset",
    "edge_betweenness_partition",
    "edge_current_flow_betweenness_centrality",
    "edge_current_flow_betweenness_centrality_subset",
    "effective_graph_resistance",
    "eigenvector_centrality",
    "floyd_warshall_numpy",
    "girvan_newman",
    "global_efficiency",
    "global_reaching_centrality",
    "group_betweenness_centrality",
    "group_closeness_centrality",
    "gutman_index",
    "harmonic_centrality",
    "harmonic_diameter",
    "hits",
    "hyper_wiener_index",
    "incremental_closeness_centrality",
    "katz_centrality",
    "local_efficiency",
    "local_reaching_centrality",
    "pagerank",
    "percolation_centrality",
    "periphery",
    "radius",
    "resistance_distance",
    "schultz_index",
    "shortest_path_length",
    "should_run",
    "single_source_dijkstra_path_length",
    "single_source_shortest_path_length",
    "single_target_shortest_path_length",
    "subgraph_centrality",
    "transitive_closure",
    "triangles",
    "wiener_index",
]
