"""Weights all rounds equally for a position that met no key in any of them.

Exercise: combine_rounds
Believes: The lowest finite number is good enough if there are no keys.
Shows: A position whose logsumexp is -inf in every round gets the mean of outputs that are no
    answers.
Hint: What weights does your softmax give a position whose logsumexps are all -inf? What does the
docstring require there?
Rejected by: test_position_without_keys_in_any_round
Costs: 15 %
"""


def combine_rounds(outputs, logsumexps):
    dtype = torch.promote_types(outputs.dtype, torch.float32)
    weights = logsumexps.to(dtype).clamp(min=torch.finfo(dtype).min).softmax(dim=-2)
    return (weights.unsqueeze(-1) * outputs.to(dtype)).sum(dim=-3).to(outputs.dtype)
