"""Figures of clusterings and communities, which need matplotlib."""

from torchcent.check._names import name_functions
from torchcent.plots._clusterings import plot_clusterings, plot_communities

__all__ = ["plot_clusterings", "plot_communities"]

name_functions()
