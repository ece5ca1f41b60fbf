"""Returns the shape of keepdim=True when keepdim is False, and the other way round.

Exercise: logsumexp
Believes: keepdim says whether the dimension has to go.
Shows: the numbers are right, but the dimension of size 1 is missing exactly when it is asked for.
Hint: Which shape comes out by default for an input of shape (3, 4), and which one does the docstring promise?
Rejected by: test_keepdim
Costs: 20 %
"""


def logsumexp(x, dim=-1, keepdim=False):
    shift = x.amax(dim=dim, keepdim=True).detach()
    shift = torch.where(torch.isfinite(shift), shift, torch.zeros_like(shift))
    total = torch.exp(x - shift).sum(dim=dim, keepdim=True)
    result = torch.log(total) + shift
    return result.squeeze(dim) if keepdim else result
