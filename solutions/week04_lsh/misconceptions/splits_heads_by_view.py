"""Splits the heads by a view alone, without moving the axis of heads.

Exercise: LSHAttention
Believes: A view to (B, H, T, d) gives each head its features.
Shows: Every head gets a stretch of the sequence instead of a slice of the features.
Hint: Which axis must be split, and where does the new one have to move? Week 3 has done this
    before.
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
        qk = self.W_qk(x).view(len(x), self.num_heads, length, -1)
        v = self.W_v(x).view(len(x), self.num_heads, length, -1)
        attended = lsh_attention(qk, v, rotations, self.bucket_size, self.causal)
        return self.W_o(attended.transpose(1, 2).flatten(2))
