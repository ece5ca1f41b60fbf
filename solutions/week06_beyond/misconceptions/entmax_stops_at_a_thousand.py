"""Looks for the support among the first thousand entries.

Exercise: entmax15
Believes: no row is longer than that.
Shows: in long rows the last entries get nothing, however large they are.
Hint: Which entries can be in the support? Sort all of them.
Rejected by: test_long_rows
Costs: 20 %
Belief: stops_at_a_thousand
"""


_entmax15_of_all = entmax15


def entmax15(x, dim=-1):
    first = x.movedim(dim, -1)[..., :1000]
    kept = _entmax15_of_all(first, -1)
    rest = kept.new_zeros(*kept.shape[:-1], x.shape[dim] - kept.shape[-1])
    return torch.cat([kept, rest], dim=-1).movedim(-1, dim)
