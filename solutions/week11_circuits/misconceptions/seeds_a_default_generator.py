"""Seeds a generator if none is given.

Exercise: repeated_tokens
Believes: Without a generator, results should be reproducible.
Shows: Without a generator, the seed of torch makes no difference.
Hint: Where do your random numbers come from if no generator is given?
Rejected by: test_own_generator
Costs: 20 %
"""


def repeated_tokens(batch, period, vocab_size, repeats=2, generator=None):
    if period < 1:
        raise ValueError(f"period: {period}")
    if repeats < 1:
        raise ValueError(f"repeats: {repeats}")
    generator = generator or torch.Generator().manual_seed(0)
    ids = torch.randint(vocab_size, (batch, period), generator=generator)
    return ids.repeat(1, repeats)
