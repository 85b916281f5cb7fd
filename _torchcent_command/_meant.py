"""What a misspelt name may have been meant for."""

from __future__ import annotations

from collections.abc import Iterable


def meant(text: str, known: Iterable[str]) -> str:
    """``; did you mean A or B?`` with those that begin so, or else are similar, or nothing."""
    import difflib  # which only an error needs

    known = list(known)
    close = [name for name in known if name.startswith(text)] if text.strip("-") else []
    close = close or difflib.get_close_matches(text, known, n=3)
    *first, last = close[:3] or [""]
    if not last:
        return ""
    return f"; did you mean {' or '.join(filter(None, [', '.join(first), last]))}?"
