"""Merges the leading dimensions with a view.

Exercise: combine_rounds
Believes: A view can merge any two dimensions.
Shows: An error if the memory order of batch and heads differs from their index order.
Hint: Which function works like view, and copies if necessary?
Rejected by: test_views
Costs: 15 %
"""


def combine_rounds(outputs, logsumexps):
    dtype = torch.promote_types(outputs.dtype, torch.float32)
    rounds, length, size = outputs.shape[-3:]
    logits = logsumexps.to(dtype)
    nothing = (logits == -torch.inf).all(dim=-2, keepdim=True)
    weights = logits.masked_fill(nothing, 0.0).softmax(dim=-2).masked_fill(nothing, 0.0)
    flat = outputs.view(-1, rounds, length, size).to(dtype)
    combined = (weights.reshape(-1, rounds, length, 1) * flat).sum(dim=1)
    return combined.reshape(*outputs.shape[:-3], length, size).to(outputs.dtype)
