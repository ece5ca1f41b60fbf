"""Sentences of Python, numpy and torch that can carry no hidden input: names, shapes, small numbers."""

# ruff: noqa: E501  # each pattern is a sentence, read whole

import re

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
    r"too many indices for (?:tensor of dimension|array).{0,60}",
    rf"name '{_NAME}' is not defined(?:\. Did you mean: '{_NAME}'\?)?",
    rf"cannot access local variable '{_NAME}' where it is not associated with a value",
    rf"'{_NAME}' object has no attribute '{_NAME}'(?:\. Did you mean: '{_NAME}'\?)?",
    rf"module '{_NAME}' has no attribute '{_NAME}'(?:\. Did you mean: '{_NAME}'\?)?",
    rf"No module named '{_NAME}'",
    rf"cannot import name '{_NAME}' from '{_NAME}'.{{0,80}}",
    rf"{_NAME}\(\) (?:missing|takes|got).{{0,120}}",
    rf"unsupported operand type\(s\) for .{{1,4}}: '{_NAME}' and '{_NAME}'",
    rf"'{_NAME}' object is not (?:callable|iterable|subscriptable)",
    rf"(?:invalid syntax|unexpected indent|expected ':'|unindent does not match.{{0,40}}|'[(\[{{]' was never closed)",
    rf"value cannot be converted to type {_NAME} without overflow",
    r"a leaf Variable that requires grad is being used in an in-place operation\.",
    r"one of the variables needed for gradient computation has been modified by an inplace operation.{0,40}",
    r"Can't call numpy\(\) on Tensor that requires grad\..{0,60}",
    rf"a Tensor with {_NUMBER} elements cannot be converted to Scalar",
    rf"element {_NUMBER} of tensors does not require grad.{{0,40}}",
    rf"output with shape {_SHAPE} doesn't match the broadcast shape {_SHAPE}",
    r"view size is not compatible with input tensor's size and stride.{0,160}",
    r"einsum\(\): .{0,120}",
    r"division by zero",
    r"maximum recursion depth exceeded.{0,60}",
]
KNOWN = re.compile("|".join(f"(?:{t})" for t in _TEMPLATES))
DECIMAL = re.compile(r"\d+\.\d+|\d{7,}|\d+e[-+]?\d+")
