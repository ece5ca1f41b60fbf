"""Calls `eval` and does not go back.

Exercise: generate_cached
Believes: Training code calls train.
Shows: A model that came in training mode leaves in evaluation mode.
Hint: Note the mode first, and restore it at the end.
Rejected by: test_mode_is_left
Costs: 20 %
"""

_generate = generate_cached


def generate_cached(model, idx, max_new_tokens):
    return _generate(model.eval(), idx, max_new_tokens)
