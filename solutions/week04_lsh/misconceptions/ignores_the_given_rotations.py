"""Draws rotations even where some were given.

Exercise: LSHAttention
Believes: Every forward pass hashes afresh.
Shows: The argument rotations has no influence on the output.
Hint: When should the module draw at all?
Rejected by: test_values
Costs: 30 %
"""


class LSHAttention(LSHAttention):
    def forward(self, x, rotations=None, generator=None):
        _, length, d_model = x.shape
        if length % self.bucket_size != 0:
            raise ValueError(
                f"sequence length {length} is not divisible by bucket_size {self.bucket_size}"
            )
        generator = generator or torch.Generator(x.device).manual_seed(0)
        size = (self.n_hashes, d_model // self.num_heads, (length // self.bucket_size + 1) // 2)
        rotations = torch.randn(size, generator=generator, device=x.device)
        qk = self.W_qk(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        v = self.W_v(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        attended = lsh_attention(qk, v, rotations, self.bucket_size, self.causal)
        return self.W_o(attended.transpose(1, 2).flatten(2))
