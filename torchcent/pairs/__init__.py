"""Results for pairs of vertices: all-pairs distances and transitive closure."""
