"""From a reply to a verdict with a message that a student can act on.

A student's code can put hidden inputs into the text of an exception. So an exception's text is
shown only where it cannot carry any: where it is one of torch's, numpy's or Python's own well-known
sentences with nothing but known names, shapes and small numbers in it, or a literal of the
student's source. That holds in public tests too: what ran before in the same process saw hidden
inputs. Names and numbers have been through `echo.Echo.reply` when they come here.
"""

from __future__ import annotations

from ..worker import wire
from ..worker.lookout import LOOKS
from .echo import Echo
from .known_errors import KNOWN
from .outcomes import Crashed, Forbidden, LimitExceeded, Outcome, Unwritten, Wrong

_LONGEST_TEXT = 300


def shown_text(raised: wire.Raised, source: tuple[str, ...]) -> str:
    """As much of an exception's text as may stand in feedback."""
    text = raised.message.strip().split("\n")[0][:_LONGEST_TEXT]
    known = KNOWN.match(text)
    if known and Echo(source).sentence(known.group(0)):
        return known.group(0)
    whole = "\n".join(source)
    if 0 < len(text) <= 200 and (f'"{text}"' in whole or f"'{text}'" in whole):
        return text
    return ""


def crashed(
    path: str,
    raised: wire.Raised | None,
    module: str,
    source: tuple[str, ...],
    missing: bool = False,
) -> Outcome:
    """The verdict for an exception, or for a name that is not there."""
    name = path or "the object"
    if missing:
        if raised is None:
            return Crashed(f"`{name}` is not in {module}. Was it renamed or deleted?")
        at = f" at line {raised.line}" if raised.line else ""
        detail = shown_text(raised, source)
        return Crashed(
            f"`{name}` was never defined, because importing {module} stopped{at} with "
            f"{raised.type}{': ' + detail if detail else ''}.",
            raised.line,
        )
    assert raised is not None
    if "NotImplementedError" in raised.bases and raised.line is not None:
        text = f"`{name}` is not filled in yet (line {raised.line} of {module})."
        return Unwritten(text, raised.line)
    if _is_memory(raised):
        return LimitExceeded(f"`{name}` asked for more memory than a submission may use.")
    if (
        raised.type in ("PermissionError", "BlockingIOError")
        or "start new thread" in raised.message
    ):
        return Crashed(
            f"`{name}` tried something that submissions may not do (files outside its folder, "
            f"the network, threads or processes){_at(raised, module, source)}.",
            raised.line,
        )
    if raised.type == "SystemExit":
        at = _at(raised, module, source)
        return Crashed(f"`{name}` left the program (exit){at}.", raised.line)
    detail = shown_text(raised, source)
    text = f": {detail}" if detail else ""
    return Crashed(f"`{name}` raised {raised.type}{text}{_at(raised, module, source)}", raised.line)


def _is_memory(raised: wire.Raised) -> bool:
    return (
        "MemoryError" in raised.bases
        or "can't allocate memory" in raised.message
        or "out of memory" in raised.message
        or "No space left" in raised.message
    )


def _at(raised: wire.Raised, module: str, source: tuple[str, ...]) -> str:
    """Where in the student's file, with the line itself."""
    if raised.line is None:
        return ""
    text = f" at line {raised.line} of {module}"
    if 0 < raised.line <= len(source):
        line = source[raised.line - 1].strip()[:120]
        text += f": `{line}`"
    return text


def forbidden(banned: tuple[wire.Banned, ...], module: str) -> Forbidden:
    """The verdict for a call that does the exercise for the student."""
    names = []
    looks = [b for b in banned if b.call in LOOKS]
    if looks:
        place = f" (line {looks[0].line} of {module})" if looks[0].line else ""
        return Forbidden(
            f"`{looks[0].call}`{place} looks away from the grader. An exercise is plain tensor "
            "code: remove it."
        )
    for call in banned:
        place = f" (line {call.line} of {module})" if call.line else ""
        name = f"`{call.call.strip('_')[:60]}`{place}"
        if name not in names:
            names.append(name)
    return Forbidden(
        f"This exercise is to be written without {', '.join(names[:3])}. Build it from elementary "
        "operations instead."
    )


def state_mismatch(mismatch: wire.StateMismatch, path: str) -> Wrong:
    """The verdict for a module whose parameters are named or shaped in another way."""
    parts = []
    if mismatch.missing:
        parts.append(f"it lacks {_names(mismatch.missing)}")
    if mismatch.unexpected:
        parts.append(
            f"it has {_names(mismatch.unexpected)}, which nobody asked for (a bias too many? "
            "a mask? register_buffer takes persistent=False)"
        )
    for name, wanted, found in mismatch.shapes[:3]:
        parts.append(f"`{name[:60]}` should have shape {wanted}, but has {found}")
    return Wrong(
        f"The weights of `{path}` could not be loaded: {'; '.join(parts) or 'they do not fit'}. "
        "Names and shapes are given in the docstring."
    )


def _names(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{n[:60]}`" for n in names[:5])
    return shown + (f" and {len(names) - 5} more" if len(names) > 5 else "")
