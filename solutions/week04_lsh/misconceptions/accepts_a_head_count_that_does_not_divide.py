"""Accepts a number of heads that does not divide the model size.

Exercise: LSHAttention
Believes: The sizes will fit.
Shows: No error when the module is built.
Hint: d_model features have to be shared out evenly. Check that first.
Rejected by: test_refuses_heads_that_do_not_divide
Costs: 15 %
"""


class LSHAttention(LSHAttention):
    def __init__(self, d_model, num_heads, bucket_size=64, n_hashes=4, causal=False):
        super().__init__(d_model, 1, bucket_size, n_hashes, causal)
        self.num_heads = num_heads
