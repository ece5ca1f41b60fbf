"""Marks the padding with True, while in this course True stands for real tokens.

Exercise: padding_mask
Believes: a padding mask names the padding, as key_padding_mask of nn.MultiheadAttention does.
Shows: every entry is the opposite of what it should be.
Hint: What would a model learn that attends to nothing but padding? Read the convention at the top
    of the module again.
Rejected by: test_real_tokens_come_first
Costs: 40 %
Belief: true_means_hidden
"""


def padding_mask(lengths, max_len=None):
    if max_len is None:
        max_len = int(lengths.max())
    for length in lengths.tolist():
        if not 0 <= length <= max_len:
            raise ValueError(f"length {length} is not between 0 and {max_len}")

    return torch.arange(max_len, device=lengths.device) >= lengths[:, None]
