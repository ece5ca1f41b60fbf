"""Turns gradients off for good.

Exercise: generate_cached
Believes: Gradients are turned off where they are not needed.
Shows: Training is impossible after the call.
Hint: `with torch.no_grad():` ends by itself; set_grad_enabled(False) does not.
Rejected by: test_mode_is_left
Costs: 20 %
"""

_generate = generate_cached


def generate_cached(model, idx, max_new_tokens):
    torch.set_grad_enabled(False)
    return _generate(model, idx, max_new_tokens)
