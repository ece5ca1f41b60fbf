"""Leaves out one token of the vocabulary.

Exercise: repeated_tokens
Believes: The upper limit of `randint` is included.
Shows: The token vocab_size - 1 never occurs.
Hint: Is the upper limit of `torch.randint` drawn?
Rejected by: test_vocabulary
Costs: 25 %
"""


def repeated_tokens(batch, period, vocab_size, repeats=2, generator=None):
    if period < 1:
        raise ValueError(f"period: {period}")
    if repeats < 1:
        raise ValueError(f"repeats: {repeats}")
    ids = torch.randint(max(vocab_size - 1, 1), (batch, period), generator=generator)
    return ids.repeat(1, repeats)
