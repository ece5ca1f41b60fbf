"""Returns a triangle of zeros and ones in uint8.

Exercise: causal_mask
Believes: a byte per entry is as good as a truth value.
Shows: the values are right, the dtype is uint8; `~mask` then gives 255 and 254.
Hint: What does `~` make of a 1 in uint8? Which dtype does the docstring ask for?
Rejected by: test_is_boolean
Costs: 25 %
Belief: bool_masks
"""


def causal_mask(seq_len, device=None):
    position = torch.arange(seq_len, device=device)
    return (position[None, :] <= position[:, None]).to(torch.uint8)
