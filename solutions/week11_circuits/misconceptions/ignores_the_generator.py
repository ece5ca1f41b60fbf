"""Draws from torch's own generator.

Exercise: repeated_tokens
Believes: The seed of torch decides all random numbers.
Shows: Equal generators give different tokens.
Hint: Where do your random numbers come from if a generator is given?
Rejected by: test_generator
Costs: 25 %
"""


def repeated_tokens(batch, period, vocab_size, repeats=2, generator=None):
    if period < 1:
        raise ValueError(f"period: {period}")
    if repeats < 1:
        raise ValueError(f"repeats: {repeats}")
    ids = torch.randint(vocab_size, (batch, period))
    return ids.repeat(1, repeats)
