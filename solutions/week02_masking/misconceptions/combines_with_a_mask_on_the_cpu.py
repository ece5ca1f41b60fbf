"""Creates a tensor on the CPU in the forward pass, wherever the module is.

Exercise: SelfAttention
Believes: a tensor made in forward lies where the module lies.
Shows: right on the CPU; an error about two devices elsewhere.
Hint: Every tensor that you create inside `forward` needs a device. Where can you read it off?
Rejected by: test_device
Costs: 15 %
Belief: device_of_masks
"""


class SelfAttention(nn.Module):
    def __init__(self, embed_size):
        super().__init__()
        self.W_q = nn.Linear(embed_size, embed_size, bias=False)
        self.W_k = nn.Linear(embed_size, embed_size, bias=False)
        self.W_v = nn.Linear(embed_size, embed_size, bias=False)

    def forward(self, x, mask=None):
        allowed = torch.ones(x.shape[-2], x.shape[-2], dtype=torch.bool)
        if mask is not None:
            allowed = allowed & mask
        return scaled_dot_product_attention(self.W_q(x), self.W_k(x), self.W_v(x), allowed)
