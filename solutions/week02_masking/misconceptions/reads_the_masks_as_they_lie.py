"""Reads the causal mask in memory order.

Exercise: combine_masks
Believes: a tensor is a row of numbers in memory, and its shape says how to cut it.
Shows: a transposed mask is read the wrong way round.
Hint: What does `.T` change in memory? Index the mask instead of walking through its memory.
Rejected by: test_views
Costs: 20 %
"""


def combine_masks(causal, padding):
    tokens = len(causal)
    lying = causal.as_strided((tokens, tokens), (tokens, 1))
    return lying & padding[:, None, None, :]
