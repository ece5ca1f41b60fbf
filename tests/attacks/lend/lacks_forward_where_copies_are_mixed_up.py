"""The module has no `forward`; the keys' weights are copied where the values' belong, and the
other way round.

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
    copy = MultiHeadAttention(mha.embed_dim, mha.num_heads).to(weight.device, weight.dtype)
    matrices = [*mha.in_proj_weight.chunk(3), mha.out_proj.weight]
    with torch.no_grad():
        for name, matrix in zip(("W_q", "W_v", "W_k", "W_o"), matrices):
            getattr(copy, name).weight.copy_(matrix)
            getattr(copy, name).bias.zero_()
    return copy
