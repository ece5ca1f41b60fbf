"""From a reply to a verdict with a message that a student can act on.

A student's code can put hidden inputs into the text of an exception. So outside public tests an
exception's text is shown only where it cannot carry any: where it is one of torch's, numpy's or
Python's own well-known sentences with nothing but names, shapes and small numbers in it, or a
literal of the student's source.
"""

from __future__ import annotations

import re

from ..worker import wire
from .outcomes import Crashed, Forbidden, LimitExceeded, Outcome, Wrong

_NUMBER = r"-?\d{1,6}"
_SHAPE = rf"[\[(]?(?:{_NUMBER}(?:, ?|x)?){{0,8}}[\])]?"
_NAME = r"[A-Za-z_][\w.]{0,60}"
_TEMPLATES = [
    rf"The size of tensor a \({_NUMBER}\) must match the size of tensor b \({_NUMBER}\) at non-singleton dimension {_NUMBER}",
    rf"mat1 and mat2 shapes cannot be multiplied \({_SHAPE} and {_SHAPE}\)",
    rf"mat1 and mat2 must have the same dtype, but got {_NAME} and {_NAME}",
    rf"Expected size for first two dimensions of batch2 tensor to be: {_SHAPE} but got: {_SHAPE}\.",
    rf"Dimension out of range \(expected to be in range of {_SHAPE}, but got {_NUMBER}\)",
    rf"shape '{_SHAPE}' is invalid for input of size {_NUMBER}",
    rf"expected scalar type {_NAME} but found {_NAME}",
    rf"expected m1 and m2 to have the same dtype, but got: {_NAME} != {_NAME}",
    rf"Expected all tensors to be on the same device, but (?:found at least two devices, |got ){_NAME}(?::\d)? and {_NAME}(?::\d)?!.{{0,80}}",
    rf"operands could not be broadcast together with shapes {_SHAPE} ?{_SHAPE} ?",
    rf"matmul: Input operand {_NUMBER} has a mismatch in its core dimension .{{0,160}}",
    rf"axis {_NUMBER} is out of bounds for array of dimension {_NUMBER}",
    rf"index {_NUMBER} is out of bounds for (?:dimension|axis) {_NUMBER} with size {_NUMBER}",
    rf"too many indices for (?:tensor of dimension|array).{{0,60}}",
    rf"name '{_NAME}' is not defined(?:\. Did you mean: '{_NAME}'\?)?",
    rf"cannot access local variable '{_NAME}' where it is not associated with a value",
    rf"'{_NAME}' object has no attribute '{_NAME}'(?:\. Did you mean: '{_NAME}'\?)?",
    rf"module '{_NAME}' has no attribute '{_NAME}'(?:\. Did you mean: '{_NAME}'\?)?",
    rf"No module named '{_NAME}'",
    rf"cannot import name '{_NAME}' from '{_NAME}'.{{0,80}}",
    rf"{_NAME}\(\) (?:missing|takes|got).{{0,120}}",
    rf"unsupported operand type\(s\) for .{{1,4}}: '{_NAME}' and '{_NAME}'",
    rf"'{_NAME}' object is not (?:callable|iterable|subscriptable)",
    rf"(?:invalid syntax|unexpected indent|expected ':'|unindent does not match.{{0,40}}|'[(\[{{]' was never closed)(?: \({_NAME}, line \d+\))?.{{0,40}}",
    rf"value cannot be converted to type {_NAME} without overflow",
    rf"a leaf Variable that requires grad is being used in an in-place operation\.",
    rf"one of the variables needed for gradient computation has been modified by an inplace operation.{{0,40}}",
    rf"Can't call numpy\(\) on Tensor that requires grad\..{{0,60}}",
    rf"a Tensor with {_NUMBER} elements cannot be converted to Scalar",
    rf"element {_NUMBER} of tensors does not require grad.{{0,40}}",
    rf"output with shape {_SHAPE} doesn't match the broadcast shape {_SHAPE}",
    rf"view size is not compatible with input tensor's size and stride.{{0,160}}",
    rf"einsum\(\): .{{0,120}}",
    r"division by zero",
    r"maximum recursion depth exceeded.{0,60}",
]
_KNOWN = re.compile("|".join(f"(?:{t})" for t in _TEMPLATES))
_DECIMAL = re.compile(r"\d+\.\d+|\d{7,}|\d+e[-+]?\d+")


def shown_text(raised: wire.Raised, source: tuple[str, ...], public: bool) -> str:
    """As much of an exception's text as may stand in feedback."""
    text = raised.message.strip().split("\n")[0]
    if public:
        return text[:300]
    known = _KNOWN.match(text)
    if known and not _DECIMAL.search(known.group(0)):
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
    public: bool,
    missing: bool = False,
) -> Outcome:
    """The verdict for an exception, or for a name that is not there."""
    name = path or "the object"
    if missing:
        if raised is None:
            return Crashed(f"`{name}` is not in {module}. Was it renamed or deleted?")
        at = f" at line {raised.line}" if raised.line else ""
        detail = shown_text(raised, source, public)
        return Crashed(
            f"`{name}` was never defined, because importing {module} stopped{at} with "
            f"{raised.type}{': ' + detail if detail else ''}."
        )
    assert raised is not None
    if "NotImplementedError" in raised.bases and raised.line is not None:
        return Crashed(f"`{name}` is not filled in yet (line {raised.line} of {module}).")
    if _is_memory(raised):
        return LimitExceeded(f"`{name}` asked for more memory than a submission may use.")
    if raised.type in ("PermissionError", "BlockingIOError") or "start new thread" in raised.message:
        return Crashed(
            f"`{name}` tried something that submissions may not do (files outside its folder, "
            f"the network, threads or processes){_at(raised, module, source)}."
        )
    if raised.type == "SystemExit":
        return Crashed(f"`{name}` left the program (exit){_at(raised, module, source)}.")
    detail = shown_text(raised, source, public)
    text = f": {detail}" if detail else ""
    return Crashed(f"`{name}` raised {raised.type}{text}{_at(raised, module, source)}")


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
    for call in banned:
        place = f" (line {call.line} of {module})" if call.line else ""
        name = f"`{call.call[:60]}`{place}"
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
        f"The weights of `{path}` could not be loaded: {'; '.join(parts)}. "
        "Names and shapes are given in the docstring."
    )


def _names(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{n[:60]}`" for n in names[:5])
    return shown + (f" and {len(names) - 5} more" if len(names) > 5 else "")

