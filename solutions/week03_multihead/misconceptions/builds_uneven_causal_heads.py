"""Accepts a width that the heads do not divide.

Exercise: CausalSelfAttention
Believes: the caller will check the sizes.
Shows: CausalSelfAttention(14, 4) is built without an error.
Hint: When does the user want to learn of a bad size: when the model is built, or in the middle of
    training?
Rejected by: test_refuses_sizes_that_do_not_fit
Costs: 15 %
Belief: uneven_heads
"""


class CausalSelfAttention(CausalSelfAttention):
    def __init__(self, d_model, n_heads, dropout=0.0):
        nn.Module.__init__(self)
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.proj = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)
