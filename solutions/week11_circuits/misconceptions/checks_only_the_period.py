"""Accepts zero repeats.

Exercise: repeated_tokens
Believes: Only the period can be impossible.
Shows: No error for repeats=0.
Hint: Which of the numbers do you check?
Rejected by: test_refuses_impossible_sizes
Costs: 15 %
"""


def repeated_tokens(batch, period, vocab_size, repeats=2, generator=None):
    if period < 1:
        raise ValueError(f"period: {period}")
    ids = torch.randint(vocab_size, (batch, period), generator=generator)
    return ids.repeat(1, repeats)
