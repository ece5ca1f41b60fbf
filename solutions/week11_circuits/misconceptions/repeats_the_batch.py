"""Adds copies to the batch.

Exercise: repeated_tokens
Believes: The copies are further sequences.
Shows: The batch grows and the sequences stay short.
Hint: Which axis of the result belongs to the tokens?
Rejected by: test_every_period_is_equal
Costs: 45 %
"""


def repeated_tokens(batch, period, vocab_size, repeats=2, generator=None):
    if period < 1:
        raise ValueError(f"period: {period}")
    if repeats < 1:
        raise ValueError(f"repeats: {repeats}")
    ids = torch.randint(vocab_size, (batch, period), generator=generator)
    return ids.repeat(repeats, 1)
