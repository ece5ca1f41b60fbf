"""Returns a different integer type.

Exercise: repeated_tokens
Believes: Any integer type can index an embedding.
Shows: The ids are int32.
Hint: Print the dtype of your result.
Rejected by: test_every_period_is_equal
Costs: 20 %
"""


def repeated_tokens(batch, period, vocab_size, repeats=2, generator=None):
    if period < 1:
        raise ValueError(f"period: {period}")
    if repeats < 1:
        raise ValueError(f"repeats: {repeats}")
    ids = torch.randint(vocab_size, (batch, period), generator=generator)
    return ids.repeat(1, repeats).int()
