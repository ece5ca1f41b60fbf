"""From a reply to a verdict with a message that a student can act on.

A student's code can put hidden inputs into the text of an exception. So an exception's text is
shown only where it cannot carry any: where it is one of torch's, numpy's or Python's own well-known
sentences with nothing but known names, shapes and small numbers in it, or a literal of the
student's source. That holds in public tests too: what ran before in the same process saw hidden
inputs. Names and numbers have been through `echo.Echo.reply` when they come here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from ...model.quoting import quoted
from ...worker.monitor.audit_hook import LOOKS
from ...worker.protocol import frames
from ..outcomes import Crashed, Flaw, Forbidden, LimitExceeded, Outcome, Unwritten, Wrong
from .allowed_words import UNNAMED_CALL, Echo, is_public
from .known_errors import KNOWN, SENTENCES
from .leak_budget import UNKNOWN, Ration, number, shape

_LONGEST_TEXT = 300
_FREQUENT = (
    "The size of tensor",
    "mat1 and mat2",
    "shape '",
    "operands could not",
    "index ",
    "name '",
    "'",
    "expected scalar type",
    "Dimension out of range",
)
# a definition with its name, or another statement that ends the one before
_AT_THE_MARGIN = re.compile(r"(?:async +def|def|class) +([A-Za-z_]\w{0,60})\b|[^\s#)\]}]", re.ASCII)
_NUMBER = re.compile(r"(?<![A-Za-z_0-9])-?\d+|(?<=\dx)\d+", re.ASCII)  # also both of 3x4


def shown_text(
    raised: frames.Raised,
    source: tuple[str, ...],
    sizes: frozenset[int] = frozenset(),
    ration: Ration | None = None,
    path: str = "",
) -> str:
    """As much of an exception's text as may stand in feedback.

    `sizes`: those of the arguments; `path`: what was called
    """
    ration = ration or Ration()
    text = raised.message.strip().split("\n")[0][:_LONGEST_TEXT]
    known = KNOWN.match(text)
    if known and ration.among(*_choice(known.group(0))):
        near = f"{_line(raised, source)} {path}"
        return _rationed(known, near, source, sizes, ration)
    whole = "\n".join(source)
    if 0 < len(text) <= 200 and (f'"{text}"' in whole or f"'{text}'" in whole):
        return quoted(text) if ration.among(whole.count('"') + whole.count("'")) else ""
    return ""


def _line(raised: frames.Raised, source: tuple[str, ...]) -> str:
    """The line of the source at which it was raised."""
    return source[raised.line - 1] if raised.line and raised.line <= len(source) else ""


def _choice(sentence: str) -> tuple[int, float]:
    """Among how many sentences this is one: most errors are of a few kinds."""
    return (len(_FREQUENT), 1.0) if sentence.startswith(_FREQUENT) else (SENTENCES, 1.0)


def _rationed(
    known: re.Match[str],
    near: str,
    source: tuple[str, ...],
    sizes: frozenset[int],
    ration: Ration,
) -> str:
    """A known sentence with the numbers and names that are known and that its ration allows."""
    echo, text, parts, at = Echo(source), known.group(0), list[str](), 0

    def numbers(piece: str) -> str:
        return _NUMBER.sub(lambda n: number(n.group(0), ration, sizes, source), piece)

    for group in range(1, (known.re.groups or 0) + 1):
        start, end = known.span(group)
        if start >= at:
            parts += [numbers(text[at:start]), _chosen(text[start:end], echo, ration, near)]
            at = end
    return "".join([*parts, numbers(text[at:])])


def _chosen(text: str, echo: Echo, ration: Ration, line: str) -> str:
    """What stands in a sentence at a place of a name, an operator or a letter."""
    if not text[0].isalpha() and text[0] != "_":
        return text if ration.among(13 ** len(text)) else UNKNOWN
    if len(text) == 1 and ration.among(52):
        return text
    shown = [echo.named(part, ration, line) for part in text.split(".")[:4]]
    return ".".join(shown)


def crashed(
    path: str,
    raised: frames.Raised,
    module: str,
    source: tuple[str, ...],
    sizes: frozenset[int] = frozenset(),
    brought: bool = False,
) -> Outcome:
    """The verdict for an exception.

    sizes: those that a number in its text may be; brought: the call was one of the grader's own
    code, whose names tell a student nothing.
    """
    name, ration = path or "the object", Ration()
    caller = "A call of your code" if brought else f"`{name}`"
    raised = _known_place(raised, source, ration)
    if "NotImplementedError" in raised.bases and raised.line is not None:
        there = _defined_at(raised.line, source)
        if there in name.split(".") or not (there or brought):
            there = name
        text = f"`{there}`" if there else "What it calls"
        text += f" is not filled in yet (line {raised.line} of {module})."
        if there != name and not brought:
            text += f" `{name}` calls it."
        return Unwritten(text, raised.line)
    if _is_memory(raised):
        return LimitExceeded(f"{caller} asked for more memory than a submission may use.")
    if (
        raised.type in ("PermissionError", "BlockingIOError")
        or "start new thread" in raised.message
    ):
        return Crashed(
            f"{caller} tried something that submissions may not do (files outside its folder, "
            f"the network, threads or processes){_at(raised, module, source)}.",
            raised.line,
        )
    if raised.type == "SystemExit":
        at = _at(raised, module, source)
        return Crashed(f"{caller} ended the program (exit){at}.", raised.line)
    detail = shown_text(raised, source, sizes, ration, path)
    text = f": {detail}" if detail else ""
    return Crashed(f"{caller} raised {raised.type}{text}{_at(raised, module, source)}", raised.line)


def _known_place(raised: frames.Raised, source: tuple[str, ...], ration: Ration) -> frames.Raised:
    """An exception with its line and type, as far as a message may show them."""
    echo = Echo(source)
    line = echo.place(raised.line, ration)
    kind = echo.error(raised.type, ration)
    if kind == UNKNOWN:
        kind = "an exception"
    elif not is_public(kind):
        kind = quoted(kind)
    return msgspec.structs.replace(raised, line=line, type=kind)


def _defined_at(line: int, source: tuple[str, ...]) -> str:
    """The function or class at the margin in which a line stands, or nothing."""
    for text in reversed(source[:line]):
        if found := _AT_THE_MARGIN.match(text):
            return found[1] or ""
    return ""


def _is_memory(raised: frames.Raised) -> bool:
    return (
        "MemoryError" in raised.bases
        or "can't allocate memory" in raised.message
        or "out of memory" in raised.message
        or "No space left" in raised.message
    )


def _at(raised: frames.Raised, module: str, source: tuple[str, ...]) -> str:
    """Where in the student's file, with the line itself."""
    if raised.line is None:
        return ""
    text = f" at line {raised.line} of {module}"
    if 0 < raised.line <= len(source):
        line = source[raised.line - 1].strip()[:120]
        text += f": {quoted(line)}" if line else ""
    return text


def forbidden(
    banned: tuple[frames.Banned, ...], module: str, echo: Echo | None = None, by_model: bool = False
) -> Forbidden | Crashed:
    """The verdict for a call that does the exercise for the student.

    by_model: it was made by a model that the student was given; that does nothing for anybody
    """
    names: list[str] = []
    ration = Ration()
    looks = [b for b in banned if b.call in LOOKS]
    if looks:
        place = f" (line {looks[0].line} of {module})" if looks[0].line else ""
        return Forbidden(
            f"`{looks[0].call}`{place} does what the grader cannot follow. An exercise is plain "
            "tensor code: remove it."
        )
    for call in banned[:3]:
        said = _call(call, echo, ration, module)
        if said and said not in names:
            names.append(said)
    shown = ", ".join(names) or "a call that is not allowed"
    if by_model:
        return Crashed(
            f"The model's attention is fused: it runs {shown} and never writes its weights down. "
            'Switch the model to "eager" attention first, which makes them.'
        )
    return Forbidden(
        f"Write this exercise without {shown}. Build it from elementary operations instead."
    )


def _call(call: frames.Banned, echo: Echo | None, ration: Ration, module: str) -> str:
    """A call and its line, as far as they may be shown."""
    plain = call.call.strip("_")[:60]
    line = call.line if echo is None else echo.place(call.line, ration)
    place = f" (line {line} of {module})" if line else ""
    words = plain.replace(".", " ").split()[:5]
    if echo and (call.call == UNNAMED_CALL or UNKNOWN in [echo.named(w, ration) for w in words]):
        return f"{UNNAMED_CALL}{place}" if place else ""
    return f"`{plain}`{place}"


def state_mismatch(
    mismatch: frames.StateMismatch,
    path: str,
    echo: Echo | None = None,
    asked: Mapping[str, tuple[int, ...]] | None = None,
) -> Wrong:
    """The verdict for a module whose parameters are named or shaped in another way.

    `asked`: the names and shapes that were asked for
    """
    parts, ration, asked = [], Ration(), asked or {}
    missing = tuple(n for n in mismatch.missing if ration.among(len(asked) + 1))
    if mismatch.missing:
        parts.append(f"it lacks {_names(missing) or 'some'}")
    if mismatch.unexpected:
        unexpected = mismatch.unexpected[:5]
        if echo is not None:
            unexpected = tuple(dict.fromkeys(echo.dotted_name(n, ration) for n in unexpected))
        parts.append(
            f"it has {_names(unexpected)}, which the exercise does not ask for (a bias too many? "
            "a mask? register_buffer takes persistent=False)"
        )
    for name, _, found in mismatch.shapes[:3]:
        wanted = asked.get(name)
        if wanted is not None and ration.among(len(asked)):
            has = shape(found, wanted, ration)
            parts.append(f"`{name[:60]}` should have shape {wanted}, but has {has}")
    return Wrong(
        f"The weights of `{path}` could not be loaded: {'; '.join(parts) or 'they do not fit'}. "
        "Names and shapes are given in the docstring.",
        Flaw.STATE,
    )


def _names(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{n[:60]}`" for n in names[:5])
    return shown + (f" and {len(names) - 5} more" if len(names) > 5 else "")
