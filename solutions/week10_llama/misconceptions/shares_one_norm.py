"""Makes one norm under two names.

Exercise: LlamaBlock
Believes: Both norms do the same.
Shows: Training changes both at once, and loaded weights overwrite each other.
Hint: Change one weight of `norm1`. What happens to `norm2`?
Rejected by: test_values
Costs: 40 %
"""

class LlamaBlock(LlamaBlock):
    def __init__(self, d_model, n_heads, n_kv_heads, d_ff):
        super().__init__(d_model, n_heads, n_kv_heads, d_ff)
        self.norm2 = self.norm1
