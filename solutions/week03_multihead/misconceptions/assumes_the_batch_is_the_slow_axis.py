"""Reads the two leading axes as (H, B) after merging them.

Exercise: merge_heads
Believes: once batch and heads are one axis it does not matter which came first.
Shows: right for a batch of one; otherwise sequences and heads change places.
Hint: Try two sequences that differ. To whom does the second slice along the merged axis belong?
Rejected by: test_values
Costs: 40 %
"""


def merge_heads(x):
    batch, heads, tokens, size = x.shape
    folded = x.reshape(batch * heads, tokens, size)
    return torch.cat(list(folded.reshape(heads, batch, tokens, size)), dim=-1)
