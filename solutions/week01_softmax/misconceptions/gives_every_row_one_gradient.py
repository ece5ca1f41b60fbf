"""Writes the gradient by hand and ignores the gradient that comes in from the next step.

Exercise: logsumexp
Believes: the gradient of a logsumexp is the softmax, and that is all.
Shows: gradients are right only if the gradient that comes in is 1 everywhere.
Hint: backward is given the gradient of what follows. Where does it go in your formula?
Rejected by: test_gradients_with_singleton_axes
Costs: 30 %
"""


class _LogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        shift = x.amax(dim, keepdim=True)
        shift = torch.where(torch.isfinite(shift), shift, torch.zeros_like(shift))
        result = torch.log(torch.exp(x - shift).sum(dim, keepdim=True)) + shift
        ctx.save_for_backward(x, result)
        return result

    @staticmethod
    def backward(ctx, grad):
        x, result = ctx.saved_tensors
        return torch.exp(x - result), None


def logsumexp(x, dim=-1, keepdim=False):
    result = _LogSumExp.apply(x, dim)
    return result if keepdim else result.squeeze(dim)
