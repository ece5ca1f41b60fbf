"""Turn a failed call into a verdict and a message that the student can act on.

Theory of operation. A submission can write hidden inputs into the text of an exception. A message
therefore quotes this text only if it is a string literal in the student's source, or a sentence
from `known_errors` that contains only known names, shapes and small numbers. The same rule applies
to public tests, because hidden tests may have run earlier in the same process. Every choice is
charged to the message's `MessageBudget`.
"""

import re
from collections.abc import Mapping

import msgspec

from ...model.message_text import quoted
from ...worker.monitor.audit_hook import LOOKS
from ...worker.protocol import frames
from ..outcomes import Crashed, Flaw, Forbidden, LimitExceeded, Outcome, Unwritten, Wrong
from .allowed_words import WORDS, AllowedWords, is_public
from .known_errors import KNOWN, SENTENCES
from .leak_budget import UNKNOWN, MessageBudget, number, shape

_LONGEST_TEXT = 300
_LONGEST_LITERAL = 200
_LONGEST_LINE = 120
_MOST_BANNED = 3  # forbidden calls that a message may list
_OUT_OF_MEMORY = ("can't allocate memory", "out of memory", "No space left")
_UNNAMED_CALL = "a library call that does it"
_FREQUENT = tuple(WORDS["sentences"])
# Matches the start of a top-level statement. The group is the name of a definition, if any.
_AT_THE_MARGIN = re.compile(r"(?:async +def|def|class) +([A-Za-z_]\w{0,60})\b|[^\s#)\]}]", re.ASCII)
_NUMBER = re.compile(r"(?<![A-Za-z_0-9])-?\d+|(?<=\dx)\d+", re.ASCII)  # matches both numbers of 3x4


def crashed(
    path: str,
    raised: frames.Raised,
    module: str,
    source: tuple[str, ...],
    sizes: frozenset[int] = frozenset(),
    brought: bool = False,
) -> Outcome:
    """Return the outcome for an exception that a call to `path` raised.

    source:  the lines of the student's module
    sizes:   the sizes in the arguments of the test's calls so far, and their products
    brought: the test called a helper module of its own, so the student does not know `path`
    """
    name, budget = path or "the object", MessageBudget()
    caller = "A call of your code" if brought else f"`{name}`"
    words = AllowedWords(source)
    line, error = words.line(raised.line, budget), words.error(raised, budget)
    if "NotImplementedError" in raised.bases and line is not None:
        return _unwritten(name, line, module, source, brought)
    if "MemoryError" in raised.bases or any(text in raised.message for text in _OUT_OF_MEMORY):
        return LimitExceeded(f"{caller} asked for more memory than a submission may use.")
    at = _at(line, module, source)
    if error in ("PermissionError", "BlockingIOError") or "start new thread" in raised.message:
        return Crashed(
            f"{caller} tried something that submissions may not do (files outside its folder, "
            f"the network, threads or processes){at}.",
            line=line,
        )
    if error == "SystemExit":
        return Crashed(f"{caller} ended the program (exit){at}.", line=line)
    raised = msgspec.structs.replace(raised, line=line)
    detail = error_text(raised, source, sizes, budget, path)
    if error == UNKNOWN:
        error = "an exception"
    elif not is_public(error):
        error = quoted(error)
    return Crashed(f"{caller} raised {error}{f': {detail}' if detail else ''}{at}", line=line)


def _unwritten(
    name: str, line: int, module: str, source: tuple[str, ...], brought: bool
) -> Unwritten:
    starts = filter(None, map(_AT_THE_MARGIN.match, reversed(source[:line])))
    missing = next((found[1] or "" for found in starts), "")  # the definition around the line
    if missing in name.split(".") or not (missing or brought):
        missing = name
    subject = f"`{missing}`" if missing else "What it calls"
    calls = "" if missing == name or brought else f" `{name}` calls it."
    return Unwritten(f"{subject} is not filled in yet (line {line} of {module}).{calls}", line=line)


def _at(line: int | None, module: str, source: tuple[str, ...]) -> str:
    """Return the clause that names and quotes the student's line, or "" if the line is None."""
    if line is None:
        return ""
    code = source[line - 1].strip()[:_LONGEST_LINE] if 0 < line <= len(source) else ""
    return f" at line {line} of {module}{f': {quoted(code)}' if code else ''}"


# The text of an exception


def error_text(
    raised: frames.Raised,
    source: tuple[str, ...],
    sizes: frozenset[int] = frozenset(),
    budget: MessageBudget | None = None,
    path: str = "",
) -> str:
    """Return the part of an exception's text that feedback may quote, or "" if there is none.

    raised: an exception whose line is already charged to the budget
    sizes:  the sizes in the arguments of the test's calls so far, and their products
    path:   the path of the called function
    """
    budget = budget or MessageBudget()
    text = raised.message.strip().split("\n")[0][:_LONGEST_TEXT]
    known = KNOWN.match(text)
    if known:
        frequent = known.group(0).startswith(_FREQUENT)
        if budget.afford(len(_FREQUENT) if frequent else SENTENCES, 1.0):
            line = source[raised.line - 1] if raised.line and raised.line <= len(source) else ""
            return _known_sentence(known, f"{line} {path}", source, sizes, budget)
    whole = "\n".join(source)
    if 0 < len(text) <= _LONGEST_LITERAL and (f'"{text}"' in whole or f"'{text}'" in whole):
        return quoted(text) if budget.afford(whole.count('"') + whole.count("'")) else ""
    return ""


def _known_sentence(
    known: re.Match[str],
    near: str,
    source: tuple[str, ...],
    sizes: frozenset[int],
    budget: MessageBudget,
) -> str:
    """Return the matched sentence, with `?` for names and numbers that are unknown or over budget.

    near: a short text whose names cost the fewest bits: the line that raised and the called path
    """
    words, text, parts, end = AllowedWords(source), known.group(0), list[str](), 0

    def with_numbers(piece: str) -> str:
        return _NUMBER.sub(lambda n: number(n.group(0), budget, sizes, source), piece)

    for group in range(1, (known.re.groups or 0) + 1):
        start, stop = known.span(group)
        if start >= end:
            parts.append(with_numbers(text[end:start]))
            parts.append(_chosen_part(text[start:stop], words, budget, near))
            end = stop
    return "".join([*parts, with_numbers(text[end:])])


def _chosen_part(text: str, words: AllowedWords, budget: MessageBudget, near: str) -> str:
    """Return a name, operator or letter of a known sentence, with `?` for parts over budget."""
    if not text[0].isalpha() and text[0] != "_":
        return text if budget.afford(13 ** len(text)) else UNKNOWN
    if len(text) == 1 and budget.afford(52):
        return text
    return ".".join(words.name(part, budget, near) for part in text.split(".")[:4])


# Forbidden calls


def forbidden(
    banned: tuple[frames.Banned, ...], module: str, words: AllowedWords, by_model: bool = False
) -> Forbidden | Crashed:
    """Return the outcome for forbidden calls in an exercise.

    by_model: the calls were made by a model that the test passed as an argument
    """
    budget = MessageBudget()
    for call in banned:
        if call.call in LOOKS:
            line = words.line(call.line, budget)
            return Forbidden(
                f"`{call.call}`{_in_line(line, module)} is not allowed: the grader cannot check "
                "code that uses it. Remove it; an exercise needs plain tensor code only."
            )
    calls = dict.fromkeys(_call(b, words, budget, module) for b in banned[:_MOST_BANNED])
    names = ", ".join(filter(None, calls)) or "a call that is not allowed"
    if by_model:
        return Crashed(
            f"The model's attention is fused: it runs {names}, which returns no attention weights. "
            'Switch the model to "eager" attention first.'
        )
    return Forbidden(
        f"Write this exercise without {names}. Build it from elementary operations instead."
    )


def _call(banned: frames.Banned, words: AllowedWords, budget: MessageBudget, module: str) -> str:
    """Describe a forbidden call and its line; return "" if feedback may contain neither."""
    name = banned.call.strip("_")[:60]
    place = _in_line(words.line(banned.line, budget), module)
    parts = name.split(".")[:5]
    if not words.is_dotted(name) or UNKNOWN in [words.name(part, budget) for part in parts]:
        return f"{_UNNAMED_CALL}{place}" if place else ""
    return f"`{name}`{place}"


def _in_line(line: int | None, module: str) -> str:
    return f" (line {line} of {module})" if line else ""


# State dicts that cannot be loaded


def state_mismatch(
    mismatch: frames.StateMismatch,
    path: str,
    words: AllowedWords,
    wanted: Mapping[str, tuple[int, ...]],
) -> Wrong:
    """Return the outcome for a torch module whose parameters do not match the test's state dict.

    wanted: the shapes of the expected parameters by name
    """
    parts, budget = [], MessageBudget()
    if mismatch.missing:
        known = (n for n in mismatch.missing if n in wanted)
        missing = [n for n in known if budget.afford(len(wanted) + 1)]
        parts.append(f"it lacks {_listed(missing) or 'some'}")
    if mismatch.unexpected:
        names = dict.fromkeys(words.dotted_name(n, budget) for n in mismatch.unexpected[:5])
        parts.append(
            f"it has {_listed(list(names))}, which the exercise does not have (an extra bias? "
            "a mask? register it with persistent=False)"
        )
    for name, _, found in mismatch.shapes[:3]:
        if name in wanted and budget.afford(len(wanted)):
            has = shape(found, wanted[name], budget)
            parts.append(f"`{name[:60]}` should have shape {wanted[name]}, but has {has}")
    return Wrong(
        f"The weights of `{path}` could not be loaded: {'; '.join(parts) or 'they do not fit'}. "
        "The docstring gives their names and shapes.",
        Flaw.STATE,
    )


def _listed(names: list[str]) -> str:
    listed = ", ".join(f"`{n[:60]}`" for n in names[:5])
    return listed + (f" and {len(names) - 5} more" if len(names) > 5 else "")
