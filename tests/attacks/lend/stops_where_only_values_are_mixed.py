"""The attention raises; the module only projects the values.

Helper: lsh_attention
Empty: LSHAttention
Week: 4
Score at most: 0.35
"""


def lsh_attention(qk, v, rotations, bucket_size, causal=False):
    raise RuntimeError("no")


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
        return self.W_o(self.W_v(x))
