"""Adds one token less than asked for.

Exercise: generate_cached
Believes: The prefill is the first of the steps.
Shows: The result is one token short.
Hint: Each call of the model gives one new token, the first call too.
Rejected by: test_most_likely_tokens
Costs: 25 %
"""

_generate = generate_cached


def generate_cached(model, idx, max_new_tokens):
    return _generate(model, idx, max(max_new_tokens - 1, 0))
