"""Uses LayerNorm.

Exercise: LlamaBlock
Believes: Any norm will do.
Shows: Weights of a trained model do not fit: each norm has a bias.
Hint: Which norm does the docstring name? How many parameters does it have?
Rejected by: test_parameters
Costs: 45 %
"""

class LlamaBlock(LlamaBlock):
    def __init__(self, d_model, n_heads, n_kv_heads, d_ff):
        super().__init__(d_model, n_heads, n_kv_heads, d_ff)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
