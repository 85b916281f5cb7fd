"""What results were measured on: date, machine, torch, digest of the sources (gpu_status.py)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from report import markdown

DEEPEST = 4  # heads stand at the top, of a device or of a row


def heads(result: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Every part of a result that says when and where it was measured."""
    if isinstance(result, dict) and "date" in result and (where(result) or "conditions" in result):
        yield result
        rows = result.get("rows")
        for row in rows if isinstance(rows, list) else ():  # measured again, later than others
            under = row.get("conditions", {}) if isinstance(row, dict) else {}
            if "date" in under:
                yield under
    elif depth < DEEPEST and isinstance(result, (dict, list)):
        for each in result.values() if isinstance(result, dict) else result:
            yield from heads(each, depth + 1)


def where(head: dict[str, Any]) -> str:
    """Device and processor."""
    machine = head.get("machine", {})
    if "conditions" in head:  # of history.json
        return str(head["conditions"]["processor"])
    host = f"{machine['cpu']}, {machine['cores']} cores" if "cpu" in machine else ""
    device = head.get("device", "cpu")
    return ", ".join(filter(None, (device if device != "cpu" else "", host)))


def torch_of(head: dict[str, Any]) -> str:
    for known in ("versions", "conditions"):
        if known in head:
            return str(head[known]["torch"])
    if "torch" in head:
        return str(head["torch"])
    return str(head["machine"]["packages"]["torch"])


def digest_of(head: dict[str, Any]) -> str:
    """Its first digits; with the parts that it is of, where they have different ones.

    Older results have the last commit of their day instead, which was found afterwards.
    """
    if "digests" in head:
        parts: dict[str, list[str]] = {}
        for part, digest in head["digests"].items():
            if digest:
                parts.setdefault(digest[:8], []).append(part.replace("_", " "))
        return "; ".join(f"{digest}: {', '.join(names)}" for digest, names in parts.items())
    if "commit" in head:
        return f"commit {head['commit']}"
    return head["digest"][:8] if "digest" in head else "none"


def table(results: dict[str, Any], names: list[str]) -> str:
    """A row for each machine of these files."""
    lines = [["file", "measured", "on", "torch", "digest of the sources"]]
    for name in names:
        rows: dict[tuple[str, ...], list[str]] = {}
        for head in heads(results[f"{name}.json"]):
            rows.setdefault((where(head), torch_of(head), digest_of(head)), []).append(
                head["date"][:10]
            )
        for (place, torch, digest), dates in rows.items():
            days = " to ".join(sorted({min(dates), max(dates)}))
            lines.append([f"[{name}.json](../../benchmarks/results/{name}.json)", days])
            lines[-1] += [place, torch, digest]
    return markdown(lines).replace("---:", "---")
