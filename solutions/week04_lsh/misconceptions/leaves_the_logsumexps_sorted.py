"""Puts the outputs back into their order but leaves the logsumexps sorted.

Exercise: lsh_attention
Believes: Only the outputs have positions.
Shows: Right for one round; with several, each position is weighted by the sums of another.
Hint: Which rows do the logsumexps that you hand to combine_rounds belong to?
Rejected by: test_rounds_count_by_what_they_found
Costs: 30 %
"""

_outputs_in_original_order = _in_original_order


def _in_original_order(chunks, inverse):
    is_logsumexp = chunks.shape[-1] == 1
    return chunks.flatten(-3, -2) if is_logsumexp else _outputs_in_original_order(chunks, inverse)
