"""Draws new tokens for every period.

Exercise: repeated_tokens
Believes: A random sequence of the full length is repeated somewhere.
Shows: The second period differs from the first.
Hint: Which tokens of the second period can a model predict?
Rejected by: test_every_period_is_equal
Costs: 80 %
"""


def repeated_tokens(batch, period, vocab_size, repeats=2, generator=None):
    if period < 1:
        raise ValueError(f"period: {period}")
    if repeats < 1:
        raise ValueError(f"repeats: {repeats}")
    ids = torch.randint(vocab_size, (batch, repeats * period), generator=generator)
    return ids
