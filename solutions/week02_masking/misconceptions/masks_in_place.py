"""Overwrites the hidden scores in the tensor that the caller passed in.

Exercise: masked_softmax
Believes: an in-place fill saves memory and does no harm.
Shows: right weights, but the caller's scores have changed; a leaf that needs gradients raises an
    error.
Hint: Print the scores before and after the call. Which of your operations writes into its input?
Rejected by: test_values
Costs: 20 %
Belief: changes_the_argument
"""


def masked_softmax(scores, mask, dim=-1):
    scores.masked_fill_(~mask, torch.finfo(scores.dtype).min)
    return torch.softmax(scores, dim=dim).masked_fill(~mask, 0.0)
