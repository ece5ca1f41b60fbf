"""Recognise error messages of Python, NumPy and PyTorch that contain no free text.

Theory of operation. Each pattern matches one complete sentence. Its groups capture the names,
operators and letters that a submission can choose; `allowed_words` checks the names separately.
Numbers have at most five digits, and there is always text between two numbers, so a hostile message
cannot make the regular expressions backtrack exponentially.
"""

# ruff: noqa: E501  # each pattern is one sentence on one line

import re
from collections.abc import Iterable
from functools import cache
from itertools import chain

_N = r"-?\d{1,5}"
_SHAPE = rf"[\[(](?:{_N}(?:, ?{_N}){{0,5}},?)?[\])]"
_NAME = r"([A-Za-z_][\w.]{0,60})"
_DEVICE = rf"{_NAME}(?::\d)?"
_ARGUMENTS = rf"['\"]{_NAME}['\"]" + rf"(?:(?:, | and |, and )['\"]{_NAME}['\"])?" * 4
TEMPLATES = {
    "sizes": [
        rf"The size of tensor a \({_N}\) must match the size of tensor b \({_N}\) at non-singleton dimension {_N}",
        rf"mat1 and mat2 shapes cannot be multiplied \({_N}x{_N} and {_N}x{_N}\)",
        rf"Expected size for first two dimensions of batch2 tensor to be: {_SHAPE} but got: {_SHAPE}\.",
        rf"shape '{_SHAPE}' is invalid for input of size {_N}",
        rf"operands could not be broadcast together with shapes {_SHAPE} ?{_SHAPE}",
        rf"matmul: Input operand {_N} has a mismatch in its core dimension {_N}, with gufunc signature \(n\?,k\),\(k,m\?\)->\(n\?,m\?\) \(size {_N} is different from {_N}\)",
        rf"output with shape {_SHAPE} doesn't match the broadcast shape {_SHAPE}",
        rf"einsum\(\): subscript ([a-zA-Z]) has size {_N} for operand {_N} which does not broadcast with previously seen size {_N}",
    ],
    "axes": [
        rf"Dimension out of range \(expected to be in range of {_SHAPE}, but got {_N}\)",
        rf"axis {_N} is out of bounds for array of dimension {_N}",
        rf"too many indices for (?:tensor of dimension {_N}|array: array is {_N}-dimensional, but {_N} were indexed)",
        rf"einsum\(\): the number of subscripts in the equation \({_N}\) (?:is more than|does not match) the number of dimensions \({_N}\) for operand {_N}",
        r"einsum\(\): (?:fewer|more) operands were provided than specified in the equation",
    ],
    "places": [rf"index {_N} is out of bounds for (?:dimension|axis) {_N} with size {_N}"],
    "parts": [rf"(?:not enough|too many) values to unpack \(expected {_N}(?:, got {_N})?\)"],
    "number types": [
        rf"mat1 and mat2 must have the same dtype, but got {_NAME} and {_NAME}",
        rf"expected scalar type {_NAME} but found {_NAME}",
        rf"expected m1 and m2 to have the same dtype, but got: {_NAME} != {_NAME}",
    ],
    "devices": [
        rf"Expected tensor to have {_DEVICE} Device, but got tensor with {_DEVICE} Device \(while checking arguments for {_NAME}\(\):?\)",
        r"Expected all tensors to be on the same device",  # the names of the devices exceed the budget
    ],
    "unknown names": [
        rf"name '{_NAME}' is not defined(?:\. Did you mean: '{_NAME}'\?)?",
        rf"cannot access (?:local|free) variable '{_NAME}' where it is not associated with a value",
        rf"'{_NAME}' object has no attribute '{_NAME}'(?:\. Did you mean: '{_NAME}'\?)?",
        rf"module '{_NAME}' has no attribute '{_NAME}'(?:\. Did you mean: '{_NAME}'\?)?",
        rf"No module named '{_NAME}'",
        rf"cannot import name '{_NAME}' from '{_NAME}'",
    ],
    "arguments": [
        rf"{_NAME}\(\) missing {_N} required (?:positional |keyword-only )?arguments?: {_ARGUMENTS}",
        rf"{_NAME}\(\) takes (?:from {_N} to )?{_N} positional arguments? but {_N} (?:was|were) given",
        rf"{_NAME}\(\) got (?:an unexpected keyword argument|multiple values for argument) '{_NAME}'",
    ],
    "numpy": [
        rf"can't convert {_DEVICE} device type tensor to numpy\. Use Tensor\.cpu\(\) to copy the tensor to host memory first\.",
        r"Can't call numpy\(\) on Tensor that requires grad\. Use tensor\.detach\(\)\.numpy\(\) instead\.",
        rf"a Tensor with {_N} elements cannot be converted to Scalar",
    ],
    "in place": [
        r"a leaf Variable that requires grad is being used in an in-place operation\.",
        r"one of the variables needed for gradient computation has been modified by an inplace operation",
    ],
    "memory": [
        r"view size is not compatible with input tensor's size and stride \(at least one dimension spans across two contiguous subspaces\)\. Use \.reshape\(\.\.\.\) instead\."
    ],
    "stopped": [
        rf"unsupported operand type\(s\) for ([-+*/%@&|^<>=]{{1,3}}): '{_NAME}' and '{_NAME}'",
        rf"'{_NAME}' object is not (?:callable|iterable|subscriptable)",
        r"(?:invalid syntax|unexpected indent|expected ':'|expected an indented block|unindent does not match any outer indentation level|'[(\[{]' was never closed)",
        rf"value cannot be converted to type {_NAME} without overflow",
        rf"element {_N} of tensors does not require grad and does not have a grad_fn",
        r"arange's (?:range must be a power of 2|arguments must be of type tl\.constexpr)",
        r"Shape element \d must (?:be a power of 2|have type `constexpr`(?: or `constexpr\[int\]`)?)",
        rf"Input shapes should have M >= {_N}, N >= {_N} and K >= {_N}",
        rf"Cannot access global variable {_NAME} from within @jit'ed function\.",
        rf"{_NAME} is not defined",
        r"division by zero",
        r"maximum recursion depth exceeded",
    ],
}


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
