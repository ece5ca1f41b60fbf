"""Appends the period backwards.

Exercise: repeated_tokens
Believes: A repetition may run backwards.
Shows: The second half is the first half in reverse order.
Hint: What should follow the last token of the period?
Rejected by: test_every_period_is_equal
Costs: 40 %
"""


def repeated_tokens(batch, period, vocab_size, repeats=2, generator=None):
    if period < 1:
        raise ValueError(f"period: {period}")
    if repeats < 1:
        raise ValueError(f"repeats: {repeats}")
    ids = torch.randint(vocab_size, (batch, period), generator=generator)
    return torch.cat([ids.flip(1) if n % 2 else ids for n in range(repeats)], dim=1)
