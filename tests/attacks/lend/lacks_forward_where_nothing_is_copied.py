"""The module has no `forward`, so that something else must stand in for it; nothing is copied into
it.

Helper: MultiHeadAttention
Empty: from_torch
Week: 3
Score at most: 0
"""


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)


def from_torch(mha):
    weight = mha.out_proj.weight
    return MultiHeadAttention(mha.embed_dim, mha.num_heads).to(weight.device, weight.dtype)
