"""Returns one period too many.

Exercise: repeated_tokens
Believes: `repeats` counts the copies after the original.
Shows: The result is one period too long.
Hint: How long should the result be for repeats=1?
Rejected by: test_every_period_is_equal
Costs: 35 %
"""


def repeated_tokens(batch, period, vocab_size, repeats=2, generator=None):
    if period < 1:
        raise ValueError(f"period: {period}")
    if repeats < 1:
        raise ValueError(f"repeats: {repeats}")
    ids = torch.randint(vocab_size, (batch, period), generator=generator)
    return ids.repeat(1, repeats + 1)
