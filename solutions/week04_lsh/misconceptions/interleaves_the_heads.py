"""Gives each head every H-th feature.

Exercise: LSHAttention
Believes: Splitting the features as (d, H) is the same as (H, d).
Shows: Right with one head; otherwise each head gets features that do not match the weights.
Hint: Which features belong to head 0: the first d, or every H-th?
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
        if rotations is None:
            size = (self.n_hashes, d_model // self.num_heads, (length // self.bucket_size + 1) // 2)
            rotations = torch.randn(size, generator=generator, device=x.device)
        qk = self.W_qk(x).unflatten(-1, (-1, self.num_heads)).movedim(-1, 1)
        v = self.W_v(x).unflatten(-1, (-1, self.num_heads)).movedim(-1, 1)
        attended = lsh_attention(qk, v, rotations, self.bucket_size, self.causal)
        return self.W_o(attended.movedim(1, -1).flatten(2))
