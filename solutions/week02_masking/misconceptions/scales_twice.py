"""Divides the scores by d in all, as if they were scaled twice.

Exercise: SelfAttention
Believes: the module is responsible for the scale.
Shows: weights that are too even, as if divided by d.
Hint: By what are the scores divided in all before the softmax? Count your module and every function
that it calls.
Rejected by: test_values
Costs: 30 %
"""


class SelfAttention(nn.Module):
    def __init__(self, embed_size):
        super().__init__()
        self.W_q = nn.Linear(embed_size, embed_size, bias=False)
        self.W_k = nn.Linear(embed_size, embed_size, bias=False)
        self.W_v = nn.Linear(embed_size, embed_size, bias=False)

    def forward(self, x, mask=None):
        return scaled_dot_product_attention(
            self.W_q(x) / math.sqrt(x.shape[-1]), self.W_k(x), self.W_v(x), mask
        )
