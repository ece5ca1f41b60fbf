"""Returns the integers 0 and 1.

Exercise: padding_mask
Believes: zeros and ones are a mask.
Shows: the values are right, the dtype is an integer type; `~mask` then gives -1 and -2.
Hint: What does `~` make of an integer 1? A mask should be of the dtype for which `~` means "not".
Rejected by: test_is_boolean
Costs: 25 %
Belief: bool_masks
"""


def padding_mask(lengths, max_len=None):
    if max_len is None:
        max_len = int(lengths.max())
    for length in lengths.tolist():
        if not 0 <= length <= max_len:
            raise ValueError(f"length {length} is not between 0 and {max_len}")

    return (torch.arange(max_len, device=lengths.device) < lengths[:, None]).to(lengths.dtype)
