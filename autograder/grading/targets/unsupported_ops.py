"""What a claimed device cannot do, and a real one can: the whole list.

Theory of operation. A submission's process may raise what it likes, and `not_run` costs nothing. So
nothing that it says makes a test `not_run`: this list does, which was found by running torch's own
samples of every operator on the claimed device. An error counts only in the very words of an entry,
and only where the source as it was handed in asks for what the entry is about, and does not itself
hold the error's words or raise it. Everything else that is raised there is the submission's own
failure: the reference raises nothing.
"""

from __future__ import annotations

import ast
import re

from ...model.source.reachable import MOST_SIGNS, signs_in
from ...repair.source_text import NO_PYTHON, parsed
from ...worker.protocol import frames

# What the error says, and what the source must say for it to be ours.
_UNABLE = (
    (r"Could not run 'aten::_thnn_fused_(?:lstm|gru)_cell' with", r"\b(?:LSTM|GRU)(?:Cell)?\b"),
    (r"You should register .* implement `getNewGenerator`", r"\bGenerator\("),
    (r"You should register .* implement `getPinnedMemoryAllocator`", r"\bpin_memory\b"),
    (r"\w+ gave the tensor that it wrote to another size\Z", r"\bout\s*=|\bresize|\bset_\("),
    (r"self->is_meta\(\) INTERNAL ASSERT FAILED at .*Resize\.cpp", r"\bout\s*=|\bresize"),
    (r"Internal error: NestedTensorImpl doesn't support sizes", r"\bnested_tensor"),
)
_LIST = [(re.compile(error), re.compile(asks)) for error, asks in _UNABLE]
_SHORTEST_LITERAL = 12


def is_unable(raised: frames.Raised, source: tuple[str, ...]) -> bool:
    """Return whether an error on the claimed device is the device's, by the list."""
    text = "\n".join(source)
    for error, asks in _LIST:
        found = error.match(raised.message.strip())
        if found and "RuntimeError" in raised.bases and asks.search(text):
            own = any(part in text for part in _parts(found.group(0)))
            return not own and raised.line not in _raise_statements(text)
    return False


def _raise_statements(source: str) -> set[int]:
    """The lines of a module's own `raise` statements; none if Python cannot read it."""
    if signs_in(source) > MOST_SIGNS:
        return set()
    try:
        tree = parsed(source).tree
    except NO_PYTHON:
        return set()
    own = (node for node in ast.walk(tree) if isinstance(node, ast.Raise))
    return {line for node in own for line in range(node.lineno, (node.end_lineno or 0) + 1)}


def _parts(sentence: str) -> list[str]:
    """Pieces of the error's words that are nobody's but torch's and ours."""
    words = sentence.split()
    pieces = [" ".join(words[start : start + 3]) for start in range(max(1, len(words) - 2))]
    return [piece for piece in pieces if len(piece) >= _SHORTEST_LITERAL]
