"""Figures of scores: :func:`plot_scores` needs matplotlib."""

from torchcent.plots._scores import check_plot_path, plot_scores

__all__ = ["check_plot_path", "plot_scores"]
