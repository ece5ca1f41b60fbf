"""Drops axes of size 1.

Exercise: repeated_tokens
Believes: A batch of one sequence is a sequence.
Shows: One sequence comes back without the batch axis.
Hint: What is the shape of your result for batch=1?
Rejected by: test_smallest_sizes
Costs: 20 %
"""


def repeated_tokens(batch, period, vocab_size, repeats=2, generator=None):
    if period < 1:
        raise ValueError(f"period: {period}")
    if repeats < 1:
        raise ValueError(f"repeats: {repeats}")
    ids = torch.randint(vocab_size, (batch, period), generator=generator)
    return ids.repeat(1, repeats).squeeze()
