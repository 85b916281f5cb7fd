# Written by tools/declare.py from the declarations of measures.
from collections.abc import Sequence

from torch import Tensor

from torchcent.check._run import Run
from torchcent.distances._profile import DistanceProfile
from torchcent.walks._spectral import Hits

__all__: list[str]

def betweenness(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    normalized: bool = ...,
    endpoints: bool = ...,
    sources: Tensor | None = ...,
    targets: Tensor | None = ...,
    cutoff: float | None = ...,
    run: Run = ...,
) -> Tensor: ...
def betweenness_variant(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    variant: str,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    normalized: bool = ...,
    sources: Tensor | None = ...,
    targets: Tensor | None = ...,
    run: Run = ...,
) -> Tensor: ...
def closeness(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    wf_improved: bool = ...,
    sources: Tensor | None = ...,
    cutoff: float | None = ...,
    run: Run = ...,
) -> Tensor: ...
def clustering_coefficient(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    run: Run = ...,
) -> Tensor: ...
def connected_components(
    edge_index: Tensor,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    strong: bool = ...,
    run: Run = ...,
) -> Tensor: ...
def core_number(
    edge_index: Tensor,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    run: Run = ...,
) -> Tensor: ...
def current_flow_betweenness(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    normalized: bool = ...,
    sources: Tensor | None = ...,
    targets: Tensor | None = ...,
    run: Run = ...,
) -> Tensor: ...
def current_flow_closeness(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    run: Run = ...,
) -> Tensor: ...
def degree(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    direction: str = ...,
    normalized: bool = ...,
    run: Run = ...,
) -> Tensor: ...
def distance_profile(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    sources: Tensor | None = ...,
    cutoff: float | None = ...,
    wf_improved: bool = ...,
    normalized: bool = ...,
    run: Run = ...,
) -> DistanceProfile: ...
def eccentricity(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    disconnected: str = ...,
    run: Run = ...,
) -> Tensor: ...
def edge_betweenness(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    normalized: bool = ...,
    sources: Tensor | None = ...,
    targets: Tensor | None = ...,
    cutoff: float | None = ...,
    run: Run = ...,
) -> Tensor: ...
def edge_current_flow_betweenness(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    normalized: bool = ...,
    sources: Tensor | None = ...,
    targets: Tensor | None = ...,
    run: Run = ...,
) -> Tensor: ...
def eigenvector(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    tol: float = ...,
    max_iter: int = ...,
    run: Run = ...,
) -> Tensor: ...
def electrostatic_encoding(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    run: Run = ...,
) -> Tensor: ...
def forman_curvature(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    kind: str = ...,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    run: Run = ...,
) -> Tensor: ...
def group_betweenness(
    edge_index: Tensor,
    group: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    directed: bool | None = ...,
    normalized: bool = ...,
    endpoints: bool = ...,
    run: Run = ...,
) -> Tensor: ...
def group_closeness(
    edge_index: Tensor,
    group: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    directed: bool | None = ...,
    run: Run = ...,
) -> Tensor: ...
def group_degree(
    edge_index: Tensor,
    group: Tensor,
    *,
    num_nodes: int,
    directed: bool | None = ...,
    direction: str = ...,
    normalized: bool = ...,
    run: Run = ...,
) -> Tensor: ...
def harmonic(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    normalized: bool = ...,
    sources: Tensor | None = ...,
    cutoff: float | None = ...,
    run: Run = ...,
) -> Tensor: ...
def heat_kernel_encoding(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    times: float | None,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    trivial: bool = ...,
    run: Run = ...,
) -> Tensor: ...
def heat_kernel_pairs(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    times: float | list[float],
    num_nodes: int,
    shape: tuple[int, int],
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    normalization: str | None = ...,
    padding: float = ...,
    run: Run = ...,
) -> Tensor: ...
def hits(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    tol: float = ...,
    max_iter: int = ...,
    run: Run = ...,
) -> Hits: ...
def information_centrality(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    run: Run = ...,
) -> Tensor: ...
def katz(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    alpha: float | None = ...,
    beta: float | Tensor = ...,
    normalized: bool = ...,
    tol: float = ...,
    max_iter: int = ...,
    run: Run = ...,
) -> Tensor: ...
def load_centrality(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    normalized: bool = ...,
    cutoff: float | None = ...,
    run: Run = ...,
) -> Tensor: ...
def local_betweenness(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    radius: float,
    by_hops: bool = ...,
    normalized: bool = ...,
    run: Run = ...,
) -> Tensor: ...
def node_features(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    measures: str | Sequence[str] = ...,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    normalized: bool = ...,
    run: Run = ...,
) -> Tensor: ...
def node_resistance_curvature(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    run: Run = ...,
) -> Tensor: ...
def ollivier_ricci_curvature(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    alpha: float = ...,
    method: str = ...,
    regularization: float = ...,
    tol: float = ...,
    max_iter: int = ...,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    run: Run = ...,
) -> Tensor: ...
def pagerank(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    alpha: float = ...,
    personalization: Tensor | None = ...,
    dangling: Tensor | None = ...,
    tol: float = ...,
    run: Run = ...,
) -> Tensor: ...
def percolation(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    states: Tensor,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    run: Run = ...,
) -> Tensor: ...
def random_walk_encoding(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    walk_length: int,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    run: Run = ...,
) -> Tensor: ...
def random_walk_pairs(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    powers: int,
    num_nodes: int,
    shape: tuple[int, int],
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    padding: float = ...,
    run: Run = ...,
) -> Tensor: ...
def resistance_curvature(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    run: Run = ...,
) -> Tensor: ...
def resistance_pairs(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    shape: tuple[int, int],
    kind: str = ...,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    padding: float = ...,
    run: Run = ...,
) -> Tensor: ...
def shortest_path_encoding(
    edge_index: Tensor,
    *,
    num_nodes: int,
    shape: tuple[int, int],
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    cutoff: float | None = ...,
    run: Run = ...,
) -> Tensor: ...
def spectral_density(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    bins: int = ...,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    run: Run = ...,
) -> Tensor: ...
def stress(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    normalized: bool = ...,
    sources: Tensor | None = ...,
    targets: Tensor | None = ...,
    cutoff: float | None = ...,
    run: Run = ...,
) -> Tensor: ...
def subgraph_centrality(
    edge_index: Tensor,
    edge_weight: Tensor | None = ...,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    tol: float = ...,
    run: Run = ...,
) -> Tensor: ...
def triangles(
    edge_index: Tensor,
    *,
    num_nodes: int,
    batch: Tensor | None = ...,
    directed: bool | None = ...,
    run: Run = ...,
) -> Tensor: ...
