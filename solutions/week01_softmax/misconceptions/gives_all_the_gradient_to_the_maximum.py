"""Lets the gradient reach only the largest entry of each row.

Exercise: logsumexp
Believes: a smooth maximum has the gradient of a maximum.
Shows: right values; the gradient is 1 at the largest entry and 0 elsewhere, instead of a softmax.
Hint: Which part of your formula did you keep out of the graph? Only the shift may stay outside.
Rejected by: test_gradients
Costs: 35 %
"""


def logsumexp(x, dim=-1, keepdim=False):
    largest = x.amax(dim=dim, keepdim=True)
    shift = torch.where(torch.isfinite(largest), largest, torch.zeros_like(largest))
    correction = torch.log(torch.exp(x - shift).sum(dim=dim, keepdim=True)).detach()
    result = shift + correction
    return result if keepdim else result.squeeze(dim)
