"""Figures of clusterings and communities, which need matplotlib."""

from torchcent.plots._clusterings import plot_clusterings, plot_communities

__all__ = ["plot_clusterings", "plot_communities"]
