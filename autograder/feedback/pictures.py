"""Small drawings of how a result should look, where that gives nothing hidden away.

Each is what the lesson shows as well: a shape, not an answer.
"""

from __future__ import annotations

from collections.abc import Callable

from markupsafe import Markup

_SIDE = 16


def picture(exercise: str) -> tuple[Markup, str] | None:
    """The SVG for an exercise and its caption, or None where there is none."""
    found = _PICTURES.get(exercise)
    if found is None:
        return None
    allowed, caption = found
    return _cells(allowed, caption), caption


def _cells(allowed: Callable[[int, int], bool], caption: str, size: int = 5) -> Markup:
    squares = []
    for row in range(size):
        for column in range(size):
            kind = "seen" if allowed(row, column) else "hidden"
            squares.append(
                Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>').format(
                    kind, 1 + column * _SIDE, 1 + row * _SIDE, _SIDE - 2, _SIDE - 2
                )
            )
    edge = size * _SIDE
    return Markup('<svg role="img" aria-label="{}" viewBox="0 0 {} {}" width="{}">{}</svg>').format(
        caption, edge, edge, edge, Markup("").join(squares)
    )


_CAUSAL = (
    lambda query, key: key <= query,
    "A causal mask for five tokens: a row per query, a column per key. A filled square may be "
    "seen: the diagonal and everything to its left.",
)
_PADDING = (
    lambda sequence, position: position < (5, 3, 4, 1, 2)[sequence],
    "A padding mask for lengths 5, 3, 4, 1 and 2: a row per sequence, a column per position. A "
    "filled square is a real token.",
)
_COMBINED = (
    lambda query, key: key <= query and key < 3,
    "A causal mask and a padding mask together, for a sequence of 3 tokens padded to 5: padding "
    "hides columns, in every row.",
)
_PICTURES: dict[str, tuple[Callable[[int, int], bool], str]] = {
    "causal_mask": _CAUSAL,
    "padding_mask": _PADDING,
    "combine_masks": _COMBINED,
    "CausalSelfAttention": _CAUSAL,
}
