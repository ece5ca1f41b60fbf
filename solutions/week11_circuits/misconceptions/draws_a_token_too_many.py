"""Draws a token outside of the vocabulary.

Exercise: repeated_tokens
Believes: Tokens are counted from 1.
Shows: The token vocab_size occurs.
Hint: Which is the largest id of a vocabulary of 5 tokens?
Rejected by: test_vocabulary
Costs: 25 %
"""


def repeated_tokens(batch, period, vocab_size, repeats=2, generator=None):
    if period < 1:
        raise ValueError(f"period: {period}")
    if repeats < 1:
        raise ValueError(f"repeats: {repeats}")
    ids = torch.randint(vocab_size + 1, (batch, period), generator=generator)
    return ids.repeat(1, repeats)
