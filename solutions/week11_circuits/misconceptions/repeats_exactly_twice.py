"""Always repeats twice.

Exercise: repeated_tokens
Believes: A sequence is followed by one copy.
Shows: The result is as long for 3 repeats as for 2.
Hint: Which argument does your result not depend on?
Rejected by: test_every_period_is_equal
Costs: 30 %
"""


def repeated_tokens(batch, period, vocab_size, repeats=2, generator=None):
    if period < 1:
        raise ValueError(f"period: {period}")
    if repeats < 1:
        raise ValueError(f"repeats: {repeats}")
    ids = torch.randint(vocab_size, (batch, period), generator=generator)
    return torch.cat([ids, ids], dim=1)
