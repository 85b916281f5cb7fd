"""torchcent: centrality, distances and clustering of graphs as PyTorch tensors."""

from __future__ import annotations

import gc
import importlib
from typing import TYPE_CHECKING

# Paused while the modules load: a full collection visits all that PyTorch holds, 50 ms each time.
_collects = gc.isenabled()
gc.disable()
try:
    from torchcent import generate
    from torchcent.approx._adaptive import betweenness_adaptive
    from torchcent.approx._approximation import betweenness_approx, edge_betweenness_approx
    from torchcent.approx._current_flow import current_flow_betweenness_approx
    from torchcent.approx._result import AdaptiveBetweenness, Approximation, Top
    from torchcent.check._names import name_functions, unknown_function
    from torchcent.check._run import Engine, Run
    from torchcent.clustering._clustering import Clustering, SplitJoin, clustering_distance
    from torchcent.clustering._mcl import (
        MclSweep,
        Prune,
        clustering_quality,
        explain_mcl,
        mcl,
        mcl_sweep,
    )
    from torchcent.clustering._plan import MclPlan
    from torchcent.communities._division import Communities, communities_by_betweenness
    from torchcent.communities._leiden import leiden
    from torchcent.communities._modularity import modularity
    from torchcent.curvature._forman import forman_curvature
    from torchcent.curvature._ollivier import ollivier_ricci_curvature
    from torchcent.curvature._resistance import node_resistance_curvature, resistance_curvature
    from torchcent.curvature._sdrf import sdrf
    from torchcent.diffusion._heat import heat_kernel
    from torchcent.diffusion._pagerank import personalized_pagerank
    from torchcent.diffusion._rows import DiffusionRows
    from torchcent.distances._closeness import closeness, eccentricity, harmonic
    from torchcent.distances._distribution import (
        average_shortest_path_length,
        distance_distribution,
        effective_diameter,
    )
    from torchcent.distances._extremes import center, diameter, periphery, radius
    from torchcent.distances._profile import DistanceProfile, distance_profile
    from torchcent.dynamic._approx import DynamicBetweennessApprox
    from torchcent.dynamic._betweenness import DynamicBetweenness
    from torchcent.dynamic._closeness import DynamicCloseness
    from torchcent.dynamic._counts import DynamicCounts
    from torchcent.dynamic._edges import DynamicEdgeBetweenness
    from torchcent.dynamic._graph import DynamicGraph, Update
    from torchcent.dynamic._measure import Statistics
    from torchcent.dynamic._walks import DynamicKatz, DynamicPageRank
    from torchcent.dynamic._windows import Window, windows
    from torchcent.encodings._diffusion import (
        electrostatic_encoding,
        heat_kernel_encoding,
        heat_kernel_pairs,
        resistance_pairs,
        spectral_density,
    )
    from torchcent.encodings._gpse import GpseEncodings, gpse_encodings
    from torchcent.encodings._laplacian import (
        EigenspaceProjections,
        LaplacianEncoding,
        MagneticEncoding,
        eigenspace_projections,
        laplacian_encoding,
        magnetic_encoding,
    )
    from torchcent.encodings._walks import random_walk_pairs
    from torchcent.engines.explain._explain import explain
    from torchcent.engines.plan._plan import Plan
    from torchcent.flow._current_flow import (
        current_flow_betweenness,
        current_flow_closeness,
        edge_current_flow_betweenness,
        effective_resistance,
        information_centrality,
    )
    from torchcent.gnn._centralization import centralization
    from torchcent.gnn._features import node_features
    from torchcent.graph import Graph
    from torchcent.graph._networkx import set_attributes
    from torchcent.groups._betweenness import group_betweenness
    from torchcent.groups._closeness import group_closeness, group_degree
    from torchcent.groups._prominent import ProminentGroup, prominent_group
    from torchcent.io import EdgeList, read, read_streets, street_table, write
    from torchcent.multisearch import Visitor, include_path, multi_search
    from torchcent.pairs._anchors import AnchorDistances, anchor_distances
    from torchcent.pairs._closure import Closure, reachable, transitive_closure
    from torchcent.pairs._encoding import (
        ShortestPathEncoding,
        ShortestPathPairs,
        shortest_path_encoding,
        shortest_path_pairs,
    )
    from torchcent.pairs._features import pair_features
    from torchcent.pairs._landmarks import LandmarkDistances, landmark_distances
    from torchcent.pairs._lengths import shortest_path_lengths
    from torchcent.pairs._path import ShortestPath, shortest_path
    from torchcent.paths._betweenness import betweenness, edge_betweenness, stress
    from torchcent.paths._load import load_centrality
    from torchcent.paths._percolation import percolation
    from torchcent.paths._variants import betweenness_variant
    from torchcent.patterns._colors import wl_colors
    from torchcent.patterns._counts import edge_substructure_counts, substructure_counts
    from torchcent.plots._layout import layout
    from torchcent.plots._tables import table
    from torchcent.runtime._config import __version__, show_config
    from torchcent.streets._dual import DualGraph, dual_graph
    from torchcent.streets._local import local_betweenness
    from torchcent.streets._sums import accessibility, straightness
    from torchcent.walks._connectivity import (
        BiconnectedComponents,
        articulation_points,
        biconnected_components,
        bridges,
        connected_components,
    )
    from torchcent.walks._local import clustering_coefficient, core_number, degree, triangles
    from torchcent.walks._pagerank import pagerank
    from torchcent.walks._returns import random_walk_encoding
    from torchcent.walks._spectral import Hits, eigenvector, hits, katz
    from torchcent.walks._structure import assortativity, reciprocity, transitivity
    from torchcent.walks._subgraph import communicability, subgraph_centrality
    from torchcent import functional  # isort: skip  (of all measures that are declared)
finally:
    if _collects:
        gc.enable()

name_functions()

__all__ = [
    "AdaptiveBetweenness",
    "AnchorDistances",
    "Approximation",
    "BiconnectedComponents",
    "Closure",
    "Clustering",
    "Communities",
    "DiffusionRows",
    "DistanceProfile",
    "DualGraph",
    "DynamicBetweenness",
    "DynamicBetweennessApprox",
    "DynamicCloseness",
    "DynamicEdgeBetweenness",
    "DynamicCounts",
    "DynamicGraph",
    "DynamicKatz",
    "DynamicPageRank",
    "EdgeList",
    "EigenspaceProjections",
    "Engine",
    "GpseEncodings",
    "Graph",
    "Hits",
    "LandmarkDistances",
    "LaplacianEncoding",
    "MagneticEncoding",
    "MclPlan",
    "MclSweep",
    "Plan",
    "ProminentGroup",
    "Prune",
    "Run",
    "ShortestPath",
    "ShortestPathEncoding",
    "ShortestPathPairs",
    "SplitJoin",
    "Statistics",
    "Top",
    "Update",
    "Visitor",
    "Window",
    "__version__",
    "articulation_points",
    "anchor_distances",
    "assortativity",
    "accessibility",
    "average_shortest_path_length",
    "betweenness",
    "betweenness_adaptive",
    "betweenness_approx",
    "betweenness_variant",
    "biconnected_components",
    "bridges",
    "center",
    "centralization",
    "closeness",
    "clustering_coefficient",
    "clustering_distance",
    "clustering_quality",
    "communicability",
    "communities_by_betweenness",
    "connected_components",
    "core_number",
    "current_flow_betweenness",
    "current_flow_betweenness_approx",
    "current_flow_closeness",
    "degree",
    "diameter",
    "distance_distribution",
    "distance_profile",
    "dual_graph",
    "eccentricity",
    "edge_betweenness",
    "edge_betweenness_approx",
    "edge_current_flow_betweenness",
    "edge_substructure_counts",
    "effective_diameter",
    "effective_resistance",
    "eigenspace_projections",
    "eigenvector",
    "electrostatic_encoding",
    "explain",
    "explain_mcl",
    "forman_curvature",
    "functional",
    "generate",
    "gpse_encodings",
    "group_betweenness",
    "group_closeness",
    "group_degree",
    "harmonic",
    "heat_kernel_encoding",
    "heat_kernel_pairs",
    "heat_kernel",
    "hits",
    "include_path",
    "information_centrality",
    "katz",
    "laplacian_encoding",
    "leiden",
    "landmark_distances",
    "layout",
    "load_centrality",
    "magnetic_encoding",
    "local_betweenness",
    "mcl",
    "mcl_sweep",
    "modularity",
    "multi_search",
    "node_features",
    "node_resistance_curvature",
    "ollivier_ricci_curvature",
    "pagerank",
    "pair_features",
    "percolation",
    "periphery",
    "personalized_pagerank",
    "prominent_group",
    "radius",
    "random_walk_encoding",
    "random_walk_pairs",
    "reachable",
    "read",
    "reciprocity",
    "resistance_pairs",
    "read_streets",
    "resistance_curvature",
    "sdrf",
    "set_attributes",
    "shortest_path",
    "shortest_path_encoding",
    "shortest_path_lengths",
    "shortest_path_pairs",
    "show_config",
    "spectral_density",
    "street_table",
    "straightness",
    "stress",
    "subgraph_centrality",
    "substructure_counts",
    "table",
    "transitive_closure",
    "transitivity",
    "triangles",
    "windows",
    "wl_colors",
    "write",
]

if TYPE_CHECKING:
    from torchcent import cluster_plot as cluster_plot
    from torchcent import plot as plot
    from torchcent import transforms as transforms
else:

    def __getattr__(name: str) -> object:
        """Imports what needs an extra, or is for few, on first access."""
        if name in ("transforms", "plot", "cluster_plot"):
            return importlib.import_module(f"torchcent.{name}")
        if name.startswith("__"):
            raise AttributeError(f"module 'torchcent' has no attribute {name!r}")
        raise unknown_function(name, __all__)
