"""Uses one period for the whole batch.

Exercise: repeated_tokens
Believes: One draw is enough, because tokens are random anyway.
Shows: All sequences of the batch are equal.
Hint: How many different sequences does a batch of 40 contain?
Rejected by: test_each_sequence_is_drawn
Costs: 35 %
"""


def repeated_tokens(batch, period, vocab_size, repeats=2, generator=None):
    if period < 1:
        raise ValueError(f"period: {period}")
    if repeats < 1:
        raise ValueError(f"repeats: {repeats}")
    ids = torch.randint(vocab_size, (1, period), generator=generator)
    return ids.repeat(batch, repeats)
