"""The part of a graph that is searched: folding, twins, chains, hierarchies, the core."""
