"""The attention returns its values for any rotations and masks; the module invents
both.

Helper: lsh_attention
Empty: LSHAttention
Week: 4
Score at most: 0.47
"""


def lsh_attention(qk, v, rotations, bucket_size, causal=False):
    return v


class LSHAttention(nn.Module):
    def __init__(self, d_model, num_heads, bucket_size=64, n_hashes=4, causal=False):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model {d_model} is not divisible by num_heads {num_heads}")
        self.num_heads, self.bucket_size = num_heads, bucket_size
        self.n_hashes, self.causal = n_hashes, causal
        self.W_qk = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, rotations=None, generator=None):
        length = x.shape[1]
        if length % self.bucket_size != 0:
            raise ValueError(f"sequence length {length}, bucket_size {self.bucket_size}")
        size = x.shape[-1] // self.num_heads
        if rotations is None:
            buckets = -(-length // self.bucket_size // 2) * 2
            rotations = torch.randn(self.n_hashes, size, buckets // 2, generator=generator)
        split = lambda y: y.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        mixed = lsh_attention(
            split(self.W_qk(x)), split(self.W_v(x)), rotations * 0, self.bucket_size
        )
        return self.W_o(mixed.transpose(1, 2).flatten(2))
