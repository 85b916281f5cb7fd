"""Results for pairs of vertices: all-pairs distances, transitive closure."""
