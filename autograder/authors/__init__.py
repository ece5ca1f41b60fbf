"""The names that hidden tests import, including the types of their fixtures.

A hidden test states properties with fixtures (`agree`, `submission`, `reference`, `refuses`,
`count`, `draw`, `dtype`, `device`) and need not know about sandboxes. docs/vocabulary.md explains
each name with a tested example. Other modules of the kit may change without notice.
"""

from ..grading.assertions.calls import Calls, Count, Counted
from ..grading.assertions.inputs import Draw, DrawArray
from ..grading.assertions.properties import (
    NEW_AXES,
    HuggingFaceEncoder,
    all_finite,
    expect,
    function,
    generator,
    generator_seed,
    growth_exponent,
    hf_encoder,
    once,
    rows_sum_to_one,
    same,
    torch_mha,
    zero_where,
)
from ..grading.assertions.vocabulary import Agree, Pair, Refuses
from ..grading.outcomes import Wrong

__all__ = [
    "NEW_AXES",
    "Agree",
    "Calls",
    "Count",
    "Counted",
    "Draw",
    "DrawArray",
    "HuggingFaceEncoder",
    "Pair",
    "Refuses",
    "Wrong",
    "all_finite",
    "expect",
    "function",
    "generator",
    "generator_seed",
    "growth_exponent",
    "hf_encoder",
    "once",
    "rows_sum_to_one",
    "same",
    "torch_mha",
    "zero_where",
]
