"""Accepts a period of 0.

Exercise: repeated_tokens
Believes: torch complains about impossible sizes itself.
Shows: An empty result, or an error about something else.
Hint: What do you return for a period of 0?
Rejected by: test_refuses_impossible_sizes
Costs: 20 %
"""


def repeated_tokens(batch, period, vocab_size, repeats=2, generator=None):
    ids = torch.randint(vocab_size, (batch, period), generator=generator)
    return ids.repeat(1, repeats)
