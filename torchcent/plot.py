"""Figures of scores: :func:`plot_scores` and :func:`plot_network` need matplotlib, pages do not."""

from torchcent.check._names import name_functions
from torchcent.plots._network import plot_network
from torchcent.plots._page import NetworkPage
from torchcent.plots._scores import check_plot_path, plot_scores

__all__ = ["NetworkPage", "check_plot_path", "plot_network", "plot_scores"]

name_functions()
