"""Returns both results in float32 for inputs in half precision.

Exercise: tiled_attention
Believes: Results computed in float32 may stay there.
Shows: Wrong type for float16 and bfloat16; float32 and float64 are right.
Hint: Computing in a wider type is fine. Which type does the docstring promise for the results?
Rejected by: test_float_types
Costs: 15 %
"""


def tiled_attention(q, k, v, block_size=64, causal=False):
    return _attend(q, k, v, block_size, causal)
