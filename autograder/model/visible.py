"""What strangers wrote, fit for a terminal, a log, a table or a page: one function shows it.

Theory of operation. A name, a message or a file name may hold characters that a terminal obeys
(escape sequences clear the screen, set its title, hide text), that change the order of what is
read, that nobody sees, or that pile marks onto the lines above. Each of them is shown as Python
would write it: `\\x1b`, `\\u202e`. A surrogate, which stands for a byte that is no text, is shown
as that byte, so printing cannot fail.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

_UNSEEN = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # C0, DEL, C1: what a terminal obeys
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # fillers, marks of direction
    "\u200b-\u200f\u2028-\u202e"  # zero width; separators of lines; order of reading
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\ud800-\udfff"  # half a character, or a byte that is no text
    "\U00013430-\U0001345f\U0001bca0-\U0001bca3"  # formats of hieroglyphs and shorthand
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # invisible letters
    "]"
)


# Where marks may be stacked: more of them on one letter than any language writes.
_LETTERS = re.compile("[\u0300-\ud7ff\ue000-\U0001ffff]{4,}")
_MOST_MARKS = 3
_UNSEEN_IN_JSON = re.compile(_UNSEEN.pattern.replace("\x00-\x1f", "\x00-\x09\x0b-\x1f"))


def visible(text: object, keep: str = "") -> str:
    """Text in which every invisible character is spelled out, except those in `keep`."""
    seen = _UNSEEN.sub(lambda m: m[0] if m[0] in keep else _named(m[0]), str(text))
    return _unstacked(seen, _named)


def replaced(text: object, keep: str = "\t\n") -> str:
    """Text in which each invisible character is one sign, for pages that students read."""
    sign = "\N{REPLACEMENT CHARACTER}"
    seen = _UNSEEN.sub(lambda m: m[0] if m[0] in keep else sign, str(text))
    return _unstacked(seen, lambda mark: "")


def visible_json(text: str) -> str:
    """The same JSON, in which no string holds such a character unescaped."""
    return _unstacked(_UNSEEN_IN_JSON.sub(lambda m: _escaped(m[0]), text), _escaped)


def _unstacked(text: str, shown: Callable[[str], str]) -> str:
    """The text with `shown` in place of each mark beyond the third on one letter."""
    if text.isascii():
        return text

    def within(found: re.Match[str]) -> str:
        parts, marks = [], 0
        for character in found[0]:
            marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
            parts.append(character if marks <= _MOST_MARKS else shown(character))
        return "".join(parts)

    return _LETTERS.sub(within, text)


def _named(character: str) -> str:
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:  # how Python keeps a byte of a file's name that is no text
        number -= 0xDC00
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))
