"""Colours of figures: on white, and on a transparent background, which a page may show on any."""

from __future__ import annotations

from typing import Any, NamedTuple

# Opaque, on dark pages.
DARK_SHADES = ("#4a5560", "#4a86c5", "#5b9be8", "#b57ad6", "#ff6a55")
BLUE, ORANGE = "#2b6cb0", "#dd6b20"


class Inks(NamedTuple):
    """Colours that belong together.

    Attributes:
        ink, muted, grid: of text, of what is said aside, of lines behind the plot.
        shades: of scores, from those close to zero to the highest ones.
        densities: of numbers of points or edges.
        halo: around names, or None.
    """

    ink: str
    muted: str
    grid: str
    shades: tuple[str, ...]
    densities: tuple[str, ...]
    halo: str | None


_ON_WHITE = Inks(
    "#1f2933", "#7b8794", "#e4e7eb", ("#d3dae1", "#a8c5e2", "#4a86c5", "#2a4a9b", "#3b0f52"),
    ("#d6e6f5", BLUE, "#12283f"), "white",
)  # fmt: skip
SHADES = _ON_WHITE.shades
# Greys and hues of a contrast of about 4 with white and with black; what is unimportant is
# translucent instead of light.
_ON_ANY = Inks(
    "#777e87", "#777e87", "#777e8740", ("#777e8755", "#4a86c5aa", "#3d7fd0", "#a35fc0", "#e0452f"),
    ("#4a86c588", "#3d7fd0", "#e0452f"), None,
)  # fmt: skip


def inks() -> Inks:
    """Those of the backgrounds that matplotlib is asked for (``savefig.transparent``)."""
    import matplotlib

    return _ON_ANY if matplotlib.rcParams["savefig.transparent"] else _ON_WHITE


def style() -> dict[str, Any]:
    """Settings of matplotlib with these colours."""
    ink, muted, grid, *_ = inks()
    return {
        "axes.axisbelow": True, "axes.edgecolor": muted, "axes.labelcolor": ink,
        "axes.spines.right": False, "axes.spines.top": False, "axes.titlelocation": "left",
        "axes.titlesize": 11, "axes.titleweight": "bold",
        "figure.facecolor": "white" if inks().halo else "none", "font.size": 9.5,
        "grid.color": grid, "text.color": ink, "xtick.color": muted, "xtick.labelcolor": ink,
        "ytick.color": muted, "ytick.labelcolor": ink,
    }  # fmt: skip
