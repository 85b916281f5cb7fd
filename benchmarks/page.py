"""Frames per second of an interactive figure in a browser: `python benchmarks/page.py`.

Writes the page of a random graph of 20,000 vertices and about 60,000 edges. Opens it in Chromium
without a window (playwright's, or the one of the system), pans and zooms it with the mouse, and
moves the slider of levels. The browser counts its frames (requestAnimationFrame). WebGL is rendered
by the processor (SwiftShader). The table is in docs/notes/measures.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from machine import description
from playwright.sync_api import sync_playwright

import torchcent
from torchcent import Graph, generate
from torchcent.plot import plot_network

GRAPHS: dict[str, Callable[[], torch.Tensor]] = {
    "BA": lambda: generate.ba(20_000, 3, seed=3),
    "Delaunay": lambda: generate.delaunay(20_000, seed=3),
}
SOFTWARE = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SIZES = {"desktop": (1280, 800), "phone": (375, 700)}
_STEPS = 60  # moves of the mouse, or turns of its wheel
_COUNT = """() => {
  window.frames_ = [];
  const note = (now) => { frames_.push(now); window.counting = requestAnimationFrame(note); };
  requestAnimationFrame(note);
}"""
_STOP = "() => { cancelAnimationFrame(counting); return frames_; }"


def written(name: str, folder: str) -> tuple[Path, str]:
    graph = Graph.from_edge_index(GRAPHS[name](), directed=False)
    path = Path(folder, f"{name}.html")
    n = graph.num_nodes
    parts = [torch.arange(n) * count // n for count in (2, 4, 8, 16)]
    plot_network(
        graph, scores=torchcent.pagerank(graph), communities=parts, measure="PageRank", path=path
    )
    return path, f"{name}, {graph.num_nodes:,} vertices, {graph.num_edges:,} edges"


def rate(page: Any, act: Callable[[], None]) -> tuple[float, float]:
    """Frames per second while it acts, and the longest time between two, in milliseconds."""
    page.evaluate(_COUNT)
    act()
    times = page.evaluate(_STOP)
    gaps = [after - before for before, after in zip(times, times[1:], strict=False)]
    return 1000 * len(gaps) / sum(gaps), max(gaps)


def figures(browser: Any, path: Path, size: tuple[int, int]) -> list[str]:
    page = browser.new_page(viewport=dict(zip(("width", "height"), size, strict=True)))
    began = time.perf_counter()
    page.goto(path.as_uri())
    while not page.evaluate("Boolean(window.network)"):
        time.sleep(0.02)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    loaded = time.perf_counter() - began
    x, y = size[0] // 2, size[1] * 2 // 3

    def pan() -> None:
        page.mouse.move(x, y)
        page.mouse.down()
        for step in range(_STEPS):
            page.mouse.move(x + step, y + step % 20)
        page.mouse.up()

    def zoom() -> None:
        for step in range(_STEPS):
            page.mouse.wheel(0, -100 if step < _STEPS // 2 else 100)
            page.wait_for_timeout(30)

    def slide() -> None:
        if not page.locator("#level").is_visible():
            return page.wait_for_timeout(500)
        for _ in range(3):
            for key in ("ArrowRight", "ArrowLeft"):
                page.locator("#level").press(key)
                page.wait_for_timeout(100)

    cells = [f"{loaded:.1f}"]
    for act in (pan, zoom, slide):
        page.wait_for_timeout(600)
        frames, longest = rate(page, act)
        cells.append(f"{frames:.0f} ({longest:.0f})")
    page.close()
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("graphs", nargs="*", default=list(GRAPHS), metavar="GRAPH")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(description())
    print("| graph | window | page, MB | loading, s | panning | zooming | levels |")
    print("|---|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        own = playwright.chromium.executable_path
        chromium = own if os.path.exists(own) else shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=SOFTWARE)
        for name in options.graphs:
            path, title = written(name, folder)
            for window, size in SIZES.items():
                rows = [figures(browser, path, size) for _ in range(options.rounds)]
                middle = [statistics.median_low(column) for column in zip(*rows, strict=True)]
                cells = [title, window, f"{path.stat().st_size / 1e6:.1f}", *middle]
                print(f"| {' | '.join(cells)} |", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
