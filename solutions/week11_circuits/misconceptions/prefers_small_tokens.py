"""Draws small ids more often.

Exercise: repeated_tokens
Believes: Any random token will do.
Shows: Small ids occur more often than large ones.
Hint: Count how often each token of a vocabulary of 5 occurs.
Rejected by: test_vocabulary
Costs: 25 %
"""


def repeated_tokens(batch, period, vocab_size, repeats=2, generator=None):
    if period < 1:
        raise ValueError(f"period: {period}")
    if repeats < 1:
        raise ValueError(f"repeats: {repeats}")
    drawn = torch.rand(batch, period, generator=generator)
    ids = (drawn.square() * vocab_size).long()
    return ids.repeat(1, repeats)
