"""Returns float32 for outputs in half precision.

Exercise: combine_rounds
Believes: Promotion picks the right dtype.
Shows: Half-precision outputs are returned in float32.
Hint: Which dtype should a half-precision model go on with? See the Returns section.
Rejected by: test_half_outputs_with_float32_logsumexps
Costs: 15 %
"""


def combine_rounds(outputs, logsumexps):
    return (logsumexps.softmax(dim=-2).unsqueeze(-1) * outputs).sum(dim=-3)
