"""Prepare text for messages: escape and quote untrusted text, and suggest corrections of names.

Theory of operation. Names, messages and file names may contain characters that control a terminal
(escape sequences clear the screen, set its title, hide text), change the reading order, are
invisible, or pile combining marks onto the lines above. Each such character is replaced by a Python
escape, such as `\\x1b` or `\\u202e`. Surrogates are escaped too, so that printing cannot fail; a
surrogate that represents an undecodable byte is replaced by the escape of that byte.

Messages mark code as Markdown does: a run of backticks opens a quotation, and a run of the same
length closes it. The runs around a quotation are longer than any run in its text, so the text
cannot close the quotation.
"""

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

_UNSEEN = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # C0, DEL, C1: terminal control
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # fillers, direction marks
    "\u200b-\u200f\u2028-\u202e"  # zero width, line separators, reading order
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\ud800-\udfff"  # surrogates, which also represent undecodable bytes
    "\U00013430-\U0001345f\U0001bca0-\U0001bca3"  # format controls of hieroglyphs and shorthand
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # controls of music, tags, variants
    "]"
)


# Matches runs that may contain stacked combining marks. No language needs more than three marks on
# one letter.
_LETTERS = re.compile("[\u0300-\ud7ff\ue000-\U0001ffff]{4,}")
_MOST_MARKS = 3
_UNSEEN_IN_JSON = re.compile(_UNSEEN.pattern.replace("\x00-\x1f", "\x00-\x09\x0b-\x1f"))
_RUN = re.compile("`+")
_QUOTATION = re.compile(r"(?<!`)(`+)(?!`)([^\n]+?)(?<!`)\1(?!`)")


def visible(text: object, keep: str = "") -> str:
    """Escape invisible characters, except those in `keep`, and excess combining marks."""
    seen = _UNSEEN.sub(lambda m: m[0] if m[0] in keep else _named(m[0]), str(text))
    return _unstacked(seen, _named)


def replaced(text: object) -> str:
    """Replace invisible characters, except tabs and newlines, by U+FFFD; drop excess marks."""
    sign = "\N{REPLACEMENT CHARACTER}"
    seen = _UNSEEN.sub(lambda m: m[0] if m[0] in "\t\n" else sign, str(text))
    return _unstacked(seen, lambda mark: "")


def visible_json(text: str) -> str:
    """Escape invisible characters and excess combining marks without changing the JSON values."""
    return _unstacked(_UNSEEN_IN_JSON.sub(lambda m: _escaped(m[0]), text), _escaped)


def _unstacked(text: str, shown: Callable[[str], str]) -> str:
    """Replace every combining mark after the third on a letter by `shown(mark)`."""
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
    if 0xDC80 <= number <= 0xDCFF:  # an undecodable byte of a file name
        number -= 0xDC00
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def quoted(text: str) -> str:
    """Quote the text in backticks, with line breaks replaced by spaces."""
    line = " ".join(text.splitlines())
    fence = "`" * (1 + max(map(len, _RUN.findall(line)), default=0))
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}"


def with_quotations(text: str, plain: Callable[[str], str], code: Callable[[str], str]) -> str:
    """Return the text with `code` applied to its quotations and `plain` to the rest."""
    parts, at = [], 0
    for found in _QUOTATION.finditer(text):
        said = found[2]
        if said[0] == said[-1] == " " and said.strip():
            said = said[1:-1]
        parts += [plain(text[at : found.start()]), code(said)]
        at = found.end()
    return "".join([*parts, plain(text[at:])])


def plural(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def best_electives(counted: int) -> str:
    return "best elective counts" if counted == 1 else f"best {counted} electives count"


def first_names(names: Sequence[str], limit: int = 5) -> str:
    """Join the first names; if there are more, add how many."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return f"{', '.join(names[:limit])}{more}"


def close_names(name: str, names: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: up to three similar names, or ""."""
    close = difflib.get_close_matches(name, list(names), n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(close)}?" if close else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: a similar name, or all known names."""
    known = sorted(known)
    folded = {one.lower(): one for one in known}
    close = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.6)
    if close:
        return f": did you mean {folded[close[0]]!r}?"
    return f"; there are {', '.join(known)}" if known else "; there is none"
