"""Uses `period` as the total length.

Exercise: repeated_tokens
Believes: `period` is the length of the whole sequence.
Shows: The result is too short by the factor `repeats`.
Hint: After how many tokens does your sequence begin again?
Rejected by: test_every_period_is_equal
Costs: 40 %
"""


def repeated_tokens(batch, period, vocab_size, repeats=2, generator=None):
    if period < 1:
        raise ValueError(f"period: {period}")
    if repeats < 1:
        raise ValueError(f"repeats: {repeats}")
    ids = torch.randint(vocab_size, (batch, max(1, period // repeats)), generator=generator)
    return ids.repeat(1, repeats)
