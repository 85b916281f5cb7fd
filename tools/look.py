"""Looks at pages of the manual in a browser: `python tools/look.py docs/_build/html screenshots`.

Takes a screenshot of each page, light and dark, at the width of a desktop and of a phone. Exits
with 1 if a page is wider than the window, writes an error to the console or asks for anything from
the network. With --axe (axe.min.js of the npm package axe-core) also if axe reports a violation
that is serious. Needs playwright, and its Chromium or the one that --chromium names.
"""

import argparse
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

PAGES = (
    "index", "gallery", "api/betweenness", "performance", "howto", "weights", "notebooks/city"
)  # fmt: skip
SIZES = {1280: 900, 375: 800}  # widths and heights
_WAIT = 800  # milliseconds until formulas are set
# Sphinx writes signatures of several lines as lists without terms.
_SERIOUS = """async () =>
  (await axe.run({
    runOnly: ["wcag2a", "wcag2aa"], preload: false, rules: { "definition-list": { enabled: false } }
  })).violations
  .filter((one) => ["serious", "critical"].includes(one.impact))
  .map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(" ")).slice(0, 3)}`)"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("html", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("pages", nargs="*", default=PAGES)
    parser.add_argument("--axe", type=Path)
    parser.add_argument("--chromium")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    wrong = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=arguments.chromium, args=["--no-sandbox"]
        )
        for scheme, (width, height) in product(("light", "dark"), SIZES.items()):
            for name in arguments.pages:
                page = browser.new_page(
                    viewport={"width": width, "height": height}, color_scheme=scheme
                )
                for line in _faults(page, arguments, name, f"{width}-{scheme}"):
                    print(f"{name}, {width} pixels, {scheme}: {line}")
                    wrong += 1
                page.close()
        browser.close()
    return min(wrong, 1)


def _faults(page: Any, arguments: argparse.Namespace, name: str, suffix: str) -> Iterator[str]:
    seen: list[str] = []
    page.on("request", lambda one: one.url.startswith("http") and seen.append(f"asks {one.url}"))
    page.on("console", lambda one: one.type == "error" and seen.append(f"console: {one.text}"))
    page.on("pageerror", lambda one: seen.append(f"error: {one}"))
    page.goto((arguments.html / f"{name}.html").resolve().as_uri())
    page.wait_for_timeout(_WAIT)
    page.screenshot(path=arguments.out / f"{name.replace('/', '-')}-{suffix}.png", full_page=True)
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    if wide > 0:
        yield f"{wide} pixels too wide"
    if arguments.axe:
        page.evaluate(arguments.axe.read_text())
        yield from (f"axe {one}" for one in page.evaluate(_SERIOUS))
    yield from seen


if __name__ == "__main__":
    sys.exit(main())
