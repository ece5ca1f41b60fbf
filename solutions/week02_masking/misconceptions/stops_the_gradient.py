"""Takes the weights out of the graph, so that no gradient reaches the scores.

Exercise: masked_softmax
Believes: a softmax only normalises; learning happens elsewhere.
Shows: right values without a gradient.
Hint: The values are right. Ask your result for its `grad_fn`, and look for the line where it goes
    missing.
Rejected by: test_gradients
Costs: 30 %
"""


def masked_softmax(scores, mask, dim=-1):
    weights = torch.softmax(
        scores.detach().masked_fill(~mask, torch.finfo(scores.dtype).min), dim=dim
    )
    return weights.masked_fill(~mask, 0.0)
