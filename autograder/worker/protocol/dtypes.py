"""The dtypes that may cross the sandbox boundary, and those in which hidden tests run.

To grade in another float type, add a line to `FLOAT_TYPES`. The wire format, the `dtype` axis of
hidden tests and the tolerances use this table. This module does not import torch, because the
import takes seconds.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class FloatType:
    """A float type in which hidden tests run.

    name:         torch's name of the type
    item_bytes:   bytes per element
    roundings:    allowed error of a result, in units of the machine epsilon
    wrong_beyond: error, relative to the largest entry, above which a result is certainly wrong;
                  larger than the allowed error and smaller than 1, the error of a zero result
    in_numpy:     whether NumPy supports the type
    by_default:   whether tests without `@pytest.mark.dtypes` run in the type; False for a type such
                  as float8, for which torch lacks most operators. A test in such a type is not run
                  on a submission that uses one of them
    """

    name: str
    item_bytes: int
    roundings: int
    wrong_beyond: float
    in_numpy: bool = True
    by_default: bool = True


FLOAT_TYPES = {
    t.name: t
    for t in (
        FloatType("float32", 4, roundings=64, wrong_beyond=1e-3),
        FloatType("float64", 8, roundings=64, wrong_beyond=1e-3),
        FloatType("float16", 2, roundings=8, wrong_beyond=0.1),
        FloatType("bfloat16", 2, roundings=8, wrong_beyond=0.3, in_numpy=False),
    )
}
TEST_DTYPES = tuple(t.name for t in FLOAT_TYPES.values() if t.by_default)
DEFAULT_DTYPE = TEST_DTYPES[0]
LOW_PRECISION = frozenset(t.name for t in FLOAT_TYPES.values() if t.item_bytes < 4)
NOT_IN_NUMPY = frozenset(t.name for t in FLOAT_TYPES.values() if not t.in_numpy)

# The dtypes that may cross the sandbox boundary, with their size in bytes per element.
TORCH_ITEM_BYTES = {t.name: t.item_bytes for t in FLOAT_TYPES.values()} | {
    "complex64": 8,
    "complex128": 16,
    "bool": 1,
    "uint8": 1,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
}
NUMPY_ITEM_BYTES = {k: v for k, v in TORCH_ITEM_BYTES.items() if k not in NOT_IN_NUMPY} | {
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
}


def dtype_without_operator(error: str) -> str:
    """Return the dtype that is not a default dtype and for which torch lacks an operator, or "".

    error: the message of an exception
    """
    lacking = r"(?i)(not implemented for|not supported|unsupported ScalarType)\b.*\b"
    names = FLOAT_TYPES.keys() - TEST_DTYPES
    return next((n for n in names if re.search(rf"{lacking}{n}\b", error)), "")
