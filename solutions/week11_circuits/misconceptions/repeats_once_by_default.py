"""Draws one period by default.

Exercise: repeated_tokens
Believes: Without `repeats`, nothing is repeated.
Shows: Without `repeats`, the result has one period.
Hint: How many periods does the docstring's signature give if `repeats` is left out?
Rejected by: test_twice_by_default
Costs: 20 %
"""


def repeated_tokens(batch, period, vocab_size, repeats=1, generator=None):
    if period < 1:
        raise ValueError(f"period: {period}")
    if repeats < 1:
        raise ValueError(f"repeats: {repeats}")
    ids = torch.randint(vocab_size, (batch, period), generator=generator)
    return ids.repeat(1, repeats)
