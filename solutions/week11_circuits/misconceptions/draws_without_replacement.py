"""Draws every token at most once per period.

Exercise: repeated_tokens
Believes: A token may not occur twice in a period.
Shows: Long periods stop short, and no token occurs twice in one.
Hint: What do you return if the period is longer than the vocabulary?
Rejected by: test_vocabulary
Costs: 30 %
"""


def repeated_tokens(batch, period, vocab_size, repeats=2, generator=None):
    if period < 1:
        raise ValueError(f"period: {period}")
    if repeats < 1:
        raise ValueError(f"repeats: {repeats}")
    rows = [torch.randperm(vocab_size, generator=generator)[:period] for _ in range(batch)]
    ids = torch.stack(rows)
    return ids.repeat(1, repeats)
