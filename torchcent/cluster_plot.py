"""Figures of clusterings: :func:`plot_clusterings` needs matplotlib."""

from torchcent.plots._clusterings import plot_clusterings

__all__ = ["plot_clusterings"]
