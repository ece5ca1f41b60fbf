"""Counts the real tokens of each sequence and takes for granted that they come first.

Exercise: combine_masks
Believes: padding always follows the tokens.
Shows: right for padding at the end, wrong for padding at the beginning.
Hint: The padding mask already says which positions are real. What happens to a sequence that is
    padded at the beginning?
Rejected by: test_padding_in_front
Costs: 20 %
"""


def combine_masks(causal, padding):
    real = torch.arange(padding.shape[-1], device=padding.device) < padding.sum(-1, keepdim=True)
    return causal & real[:, None, None, :]
