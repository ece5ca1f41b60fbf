"""What hidden tests import, and the types of what their fixtures give. Nothing else is promised.

A hidden test takes fixtures (`agree`, `submission`, `reference`, `refuses`, `count`, `draw`,
`dtype`, `device`), states properties, and never sees a sandbox. docs/vocabulary.md shows each
with an example that is run.
"""

from ..grading.agree import Agree
from ..grading.draw import Draw, DrawArray
from ..grading.outcomes import Wrong
from ..grading.pair import Pair
from ..grading.properties import (
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
from ..grading.refuse import Refuses
from ..grading.remote import Calls, Count, Counted

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
