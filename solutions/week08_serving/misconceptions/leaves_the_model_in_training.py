"""Calls `train` at the end.

Exercise: generate_cached
Believes: Afterwards training goes on.
Shows: A model that came in evaluation mode leaves in training mode.
Hint: Note the mode first, and restore it at the end.
Rejected by: test_mode_is_left
Costs: 20 %
"""

_generate = generate_cached


def generate_cached(model, idx, max_new_tokens):
    ids = _generate(model, idx, max_new_tokens)
    model.train()
    return ids
