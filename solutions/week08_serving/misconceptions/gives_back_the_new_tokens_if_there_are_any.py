"""Returns the new tokens alone, or the prompt if none are asked for.

Exercise: generate_cached
Believes: The caller has the prompt.
Shows: (B, new), where the docstring has (B, T + new); only 0 new tokens are right.
Hint: Which shape does the docstring promise? Compare your two `return` statements.
Rejected by: test_the_prompt_comes_first
Costs: 25 %
"""

_generate = generate_cached


def generate_cached(model, idx, max_new_tokens):
    text = _generate(model, idx, max_new_tokens)
    return text[:, idx.shape[1] :] if max_new_tokens else text
