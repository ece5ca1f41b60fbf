"""Draws from a new generator with a fixed seed.

Exercise: repeated_tokens
Believes: A fixed seed makes an experiment reproducible.
Shows: Every call returns the same tokens.
Hint: What do two calls with the same generator return?
Rejected by: test_generator
Costs: 25 %
"""


def repeated_tokens(batch, period, vocab_size, repeats=2, generator=None):
    if period < 1:
        raise ValueError(f"period: {period}")
    if repeats < 1:
        raise ValueError(f"repeats: {repeats}")
    ids = torch.randint(vocab_size, (batch, period), generator=torch.Generator().manual_seed(0))
    return ids.repeat(1, repeats)
