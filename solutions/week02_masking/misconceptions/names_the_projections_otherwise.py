"""Gives the projections names that differ from those in the docstring.

Exercise: SelfAttention
Believes: the names of submodules are a private matter.
Shows: the state dict's names differ, so that trained weights can't be loaded.
Hint: The names of submodules become the names in a checkpoint. Which names does the docstring ask
    for?
Rejected by: test_parameters
Costs: 20 %
"""


class SelfAttention(nn.Module):
    def __init__(self, embed_size):
        super().__init__()
        self.query = nn.Linear(embed_size, embed_size, bias=False)
        self.key = nn.Linear(embed_size, embed_size, bias=False)
        self.value = nn.Linear(embed_size, embed_size, bias=False)

    def forward(self, x, mask=None):
        return scaled_dot_product_attention(self.query(x), self.key(x), self.value(x), mask)
