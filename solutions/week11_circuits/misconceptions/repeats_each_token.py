"""Repeats each token in place.

Exercise: repeated_tokens
Believes: Repeating a sequence means repeating its tokens.
Shows: Equal tokens are adjacent.
Hint: Write down the result for the period 4, 7 and two repeats.
Rejected by: test_every_period_is_equal
Costs: 45 %
"""


def repeated_tokens(batch, period, vocab_size, repeats=2, generator=None):
    if period < 1:
        raise ValueError(f"period: {period}")
    if repeats < 1:
        raise ValueError(f"repeats: {repeats}")
    ids = torch.randint(vocab_size, (batch, period), generator=generator)
    return ids.repeat_interleave(repeats, dim=1)
