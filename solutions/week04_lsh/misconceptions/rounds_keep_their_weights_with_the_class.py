"""Keeps its weights where the next call replaces them.

Exercise: combine_rounds
Believes: the function's data can be stored on the function object.
Shows: gradients are right after one call, and wrong after two.
Hint: A network calls it once in each layer before any gradient flows back. Which call's weights
    does the backward pass of the first one read?
Rejected by: test_two_calls_before_their_gradients
Costs: 20 %
Belief: kept_with_the_class
"""


class _Combine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, outputs, logsumexps):
        dtype = torch.promote_types(outputs.dtype, torch.float32)
        logits = logsumexps.to(dtype)
        nothing = (logits == -torch.inf).all(dim=-2, keepdim=True)
        weights = logits.masked_fill(nothing, 0.0).softmax(dim=-2).masked_fill(nothing, 0.0)
        ctx.save_for_backward(outputs, logsumexps)
        _Combine.weights = weights
        return (weights.unsqueeze(-1) * outputs.to(dtype)).sum(dim=-3).to(outputs.dtype)

    @staticmethod
    def backward(ctx, grad):
        outputs, logsumexps = ctx.saved_tensors
        weights = _Combine.weights
        grad = grad.to(weights.dtype).unsqueeze(-3)
        each = (grad * outputs.to(weights.dtype)).sum(dim=-1)
        to_logits = weights * (each - (weights * each).sum(dim=-2, keepdim=True))
        return (weights.unsqueeze(-1) * grad).to(outputs.dtype), to_logits.to(logsumexps.dtype)


def combine_rounds(outputs, logsumexps):
    return _Combine.apply(outputs, logsumexps)
