"""Takes the maximum out of the sum but never adds it to the result again.

Exercise: logsumexp
Believes: the shift cancels, as it does in a softmax.
Shows: the result is between 0 and the log of the number of entries for any numbers.
Hint: In a softmax the shift cancels in a quotient. There is no quotient here: where did the factor
    exp(max) go?
Rejected by: test_values
Costs: 40 %
"""


def logsumexp(x, dim=-1, keepdim=False):
    shift = x.amax(dim=dim, keepdim=True)
    shift = torch.where(torch.isfinite(shift), shift, torch.zeros_like(shift))
    return torch.log(torch.exp(x - shift).sum(dim=dim, keepdim=keepdim))
