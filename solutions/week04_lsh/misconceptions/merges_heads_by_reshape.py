"""Merges the heads by a reshape alone, without moving the axis of heads back.

Exercise: LSHAttention
Believes: A reshape to (B, T, C) puts the heads side by side.
Shows: Positions and heads are mixed in the output.
Hint: Before merging, which two axes have to be adjacent, and in which order?
Rejected by: test_values
Costs: 35 %
Belief: heads_by_view
"""


class LSHAttention(LSHAttention):
    def forward(self, x, rotations=None, generator=None):
        _, length, d_model = x.shape
        if length % self.bucket_size != 0:
            raise ValueError(
                f"sequence length {length} is not divisible by bucket_size {self.bucket_size}"
            )
        if rotations is None:
            size = (self.n_hashes, d_model // self.num_heads, (length // self.bucket_size + 1) // 2)
            rotations = torch.randn(size, generator=generator, device=x.device)
        qk = self.W_qk(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        v = self.W_v(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        attended = lsh_attention(qk, v, rotations, self.bucket_size, self.causal)
        return self.W_o(attended.reshape(x.shape))
