"""Works along the first axis in one step and along the last in another: right for vectors only.

Exercise: sparsemax
Believes: what works for one row works for all.
Shows: right for a vector; an error or mixed rows for anything with more axes.
Hint: Give it two rows at once. Which of your calls name the axis they work along, and which leave
    it to their default?
Rejected by: test_values
Costs: 40 %
"""

def sparsemax(x, dim=-1):
    z = _wide(x)
    ordered = z.sort(descending=True).values
    total = ordered.cumsum(dim=0)
    rank = torch.arange(1, x.shape[0] + 1, device=x.device)
    size = rank[1 + rank * ordered > total][-1]
    return (z - (total[size - 1] - 1) / size).clamp(min=0.0).to(x.dtype)
