"""Accepts a width that the heads do not divide.

Exercise: MultiHeadAttention
Believes: the caller will check the sizes.
Shows: MultiHeadAttention(14, 4) is built without an error and fails later, far from the cause.
Hint: When does the user want to learn of a bad size: when the model is built, or in the middle of
    training?
Rejected by: test_refuses_sizes_that_do_not_fit
Costs: 15 %
Belief: uneven_heads
"""


class MultiHeadAttention(MultiHeadAttention):
    def __init__(self, d_model, num_heads):
        nn.Module.__init__(self)
        self.num_heads = num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
