"""Returns the new tokens without the prompt.

Exercise: generate_cached
Believes: The caller has the prompt.
Shows: (B, new) instead of (B, T + new).
Hint: Which shape does the docstring promise?
Rejected by: test_the_prompt_comes_first
Costs: 25 %
"""

_generate = generate_cached


def generate_cached(model, idx, max_new_tokens):
    return _generate(model, idx, max_new_tokens)[:, idx.shape[1] :]
