"""Which of a submission's own words feedback may repeat.

Theory of operation. A submission sees hidden inputs while it runs, and it chooses the names of its
exceptions, classes and parameters and everything else that its process replies. It could write
the inputs into these. So a reply passes through here before it can become a message: a word is
repeated only if it stands in the source as it was handed in, or if Python, numpy or torch know it;
a line number only if that line can raise (`raising.py`). Side effects are values of an enum.

What is left to a liar is a choice among things that were fixed before the inputs were seen. How
many bits of such choices one message may hold is counted in `ration.py`, and how many a whole
submission may show in `disclosure.py`.
"""

from __future__ import annotations

import builtins
import keyword
import re
from functools import cache, lru_cache
from typing import Any

import msgspec
import numpy as np
import torch

from ...worker.monitor.audit_hook import LOOKS
from ...worker.protocol import frames
from .leak_budget import UNKNOWN, Ration
from .raising_lines import raising_lines

_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+){0,8}\Z", re.ASCII)
_LONGEST = 60
_STRANGE_NAME = "a name made at run time"
UNNAMED_CALL = "a library call that does it"
_PARAMETERS = (
    "weight bias running_mean running_var num_batches_tracked in_proj_weight in_proj_bias "
    "q_proj_weight k_proj_weight v_proj_weight bias_k bias_v out_proj"
)


# What most errors of students are, and the names in them.
_ERRORS = (
    "RuntimeError ValueError TypeError IndexError AttributeError NameError KeyError SyntaxError "
    "ModuleNotFoundError ImportError AssertionError ZeroDivisionError UnboundLocalError "
    "RecursionError IndentationError Exception"
)
_ERROR_NAMES = frozenset(_ERRORS.split())
_TYPES = "Tensor ndarray NoneType int float str tuple list function Float Double Long Bool"
_COMMON = frozenset(_TYPES.split()) | {"weight", "bias", "cpu"}


class Echo:
    """Judges the words of one submission by its source (a tuple of lines)."""

    def __init__(self, source: tuple[str, ...]) -> None:
        self._source = source
        self._own = _words_of(source)

    def word(self, word: str) -> bool:
        return len(word) <= _LONGEST and (word in self._own or word in _known_words())

    def dotted(self, name: str) -> bool:
        """`name` or `name.part.0`: every part is a word that may stand, or a small number."""
        return bool(_DOTTED.match(name)) and all(
            self.word(part) or (part.isdecimal() and len(part) <= 3) for part in name.split(".")
        )

    def named(self, word: str, ration: Ration, near: str = "") -> str:
        """A word as a message may show it; one in the text `near` is the shortest choice."""
        beside = frozenset(_WORD.findall(near))
        groups = ((beside, 1.5), (_COMMON, 1.5), (self._own, 2.5), (_known_words(), 3.5))
        return _chosen(word, groups, ration)

    def error(self, word: str, ration: Ration) -> str:
        """The name of an exception as a message may show it."""
        groups = ((_ERROR_NAMES, 1.0), (self._own, 2.0), (_known_words(), 2.0))
        return _chosen(word, groups, ration)

    def dotted_name(self, name: str, ration: Ration) -> str:
        """A dotted name as a message may show it."""
        shown = [
            part if part.isdecimal() and ration.among(1000) else self.named(part, ration)
            for part in name.split(".")
        ]
        return ".".join(shown) if UNKNOWN not in shown else _STRANGE_NAME

    def place(self, line: int | None, ration: Ration) -> int | None:
        """Return the line if it can raise and the ration pays for the choice among such lines."""
        line = self._line(line)
        return line if line and ration.among(len(raising_lines(self._source))) else None

    def reply(self, reply: frames.Reply, asked: frozenset[str] = frozenset()) -> frames.Reply:
        """The reply with everything taken out that must not be repeated; its values stay.

        asked: names of parameters that the request itself used
        """
        return msgspec.structs.replace(
            reply,
            raised=None if reply.raised is None else self.raised(reply.raised),
            banned=tuple(self._banned(b) for b in reply.banned[:20]),
            mismatch=None if reply.mismatch is None else self._mismatch(reply.mismatch, asked),
            side_effects=reply.side_effects[:1],
        )

    def value(self, value: Any) -> Any:
        """An object that is no plain data, with its type's name only if that may be shown."""
        if not isinstance(value, (frames.OpaqueV, frames.HandleV)):
            return value
        known = self.dotted(value.type) and self.dotted_name(value.type, Ration()) == value.type
        return value if known else msgspec.structs.replace(value, type="strange")

    def raised(self, raised: frames.Raised) -> frames.Raised:
        name = next((b for b in (raised.type, *raised.bases) if self.word(b)), "an exception")
        return msgspec.structs.replace(raised, type=name, line=self._line(raised.line))

    def _banned(self, banned: frames.Banned) -> frames.Banned:
        known = banned.call in LOOKS or self.dotted(banned.call.strip("_"))
        name = banned.call if known else UNNAMED_CALL
        return frames.Banned(name, self._line(banned.line))

    def _mismatch(
        self, mismatch: frames.StateMismatch, asked: frozenset[str]
    ) -> frames.StateMismatch:
        return frames.StateMismatch(
            tuple(n for n in mismatch.missing[:50] if n in asked),
            tuple(n if self.dotted(n) else _STRANGE_NAME for n in mismatch.unexpected[:50]),
            tuple(
                (name, wanted, found)
                for name, wanted, found in mismatch.shapes[:50]
                if name in asked and _short(wanted) and _short(found)
            ),
        )

    def _line(self, line: int | None) -> int | None:
        return line if line is not None and line in raising_lines(self._source) else None


def _chosen(word: str, groups: tuple[tuple[frozenset[str], float], ...], ration: Ration) -> str:
    """The word, if one of the groups holds it and the ration lasts for the choice."""
    fits = (
        len(words) for words, flag in groups if word in words and ration.among(len(words), flag)
    )
    return word if any(fits) else UNKNOWN


def _short(shape: tuple[int, ...]) -> bool:
    return len(shape) <= 6 and all(0 <= extent < 100_000 for extent in shape)


@lru_cache(maxsize=8)
def _words_of(source: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for line in source for word in _WORD.findall(line))


def is_public(word: str) -> bool:
    """Return True if Python, NumPy or PyTorch has this name."""
    return word in _known_words()


@cache
def _known_words() -> frozenset[str]:
    """Names that are public knowledge: of Python, numpy and torch."""
    places: list[Any] = [builtins, torch, torch.Tensor, torch.nn, torch.nn.functional]
    places += [torch.nn.Module, torch.autograd, torch.linalg, torch.special, np, np.ndarray]
    places += [np.linalg, np.random, np.exceptions, torch.Generator]
    names = {name for place in places for name in dir(place)}
    operators = torch._C._dispatch_get_all_op_names()
    names.update(name.split("::")[1].split(".")[0].strip("_") for name in operators)
    names.update(keyword.kwlist, _PARAMETERS.split())
    names.update(("ndarray", "method", "module", "function", "cpu", "cuda", "meta", "fake_gpu"))
    names.update(
        ("ClaimedTensor", "Axes", "Figure", "Half", "Float", "Double", "Long", "Int", "Bool")
    )
    names.update(("BFloat16", "c10", "OutOfMemoryError", "JSONDecodeError", "UFuncTypeError"))
    return frozenset(names)
