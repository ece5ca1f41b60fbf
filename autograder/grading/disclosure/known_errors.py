"""Recognise error messages of Python, NumPy and PyTorch that contain no free text.

Theory of operation. Each pattern matches one complete sentence. Its groups capture the names,
operators and letters that a submission can choose; `allowed_words` checks the names separately.
Numbers have at most five digits, and there is always text between two numbers, so a hostile message
cannot make the regular expressions backtrack exponentially.
"""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from itertools import chain
from pathlib import Path

_N = r"-?\d{1,5}"
_SHAPE = rf"[\[(](?:{_N}(?:, ?{_N}){{0,5}},?)?[\])]"
_NAME = r"([A-Za-z_][\w.]{0,60})"
_DEVICE = rf"{_NAME}(?::\d)?"
_ARGUMENTS = rf"['\"]{_NAME}['\"]" + rf"(?:(?:, | and |, and )['\"]{_NAME}['\"])?" * 4
_PLACEHOLDERS = {
    "{N}": _N,
    "{SHAPE}": _SHAPE,
    "{NAME}": _NAME,
    "{DEVICE}": _DEVICE,
    "{ARGUMENTS}": _ARGUMENTS,
}


def _filled(sentence: str) -> str:
    for name, pattern in _PLACEHOLDERS.items():
        sentence = sentence.replace(name, pattern)
    return sentence


_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
TEMPLATES = {kind: [*map(_filled, sentences)] for kind, sentences in _TABLE.items()}


def _any_of(sentences: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{t})" for t in sentences), re.ASCII)


KNOWN = _any_of(chain.from_iterable(TEMPLATES.values()))
SENTENCES = sum(map(len, TEMPLATES.values()))
_LONGEST_TEXT = 400
_FAMILY_OF_TYPE = {"NameError": "unknown names", "AttributeError": "unknown names"}


def family(error: str, message: str) -> str:
    """Return the `TEMPLATES` key that matches an error's message, or a default for its type."""
    first = message[:_LONGEST_TEXT].partition("\n")[0]
    for kind, pattern in _families().items():
        if pattern.match(first):
            return kind
    return _FAMILY_OF_TYPE.get(error, "stopped")


@cache
def _families() -> dict[str, re.Pattern[str]]:
    return {kind: _any_of(sentences) for kind, sentences in TEMPLATES.items()}
