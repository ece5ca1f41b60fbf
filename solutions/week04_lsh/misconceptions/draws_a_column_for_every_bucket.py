"""Draws one column for each bucket, although each column stands for two.

Exercise: LSHAttention
Believes: Rotations map to n_buckets coordinates.
Shows: Twice as many buckets as wanted.
Hint: hash_vectors concatenates xR and -xR. How many buckets come from one column?
Rejected by: test_draws_from_the_generator
Costs: 25 %
"""


class LSHAttention(LSHAttention):
    def forward(self, x, rotations=None, generator=None):
        _, length, d_model = x.shape
        if length % self.bucket_size != 0:
            raise ValueError(
                f"sequence length {length} is not divisible by bucket_size {self.bucket_size}"
            )
        if rotations is None:
            size = (
                self.n_hashes,
                d_model // self.num_heads,
                (length // self.bucket_size + 1) // 2 * 2,
            )
            rotations = torch.randn(size, generator=generator, device=x.device)
        qk = self.W_qk(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        v = self.W_v(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        attended = lsh_attention(qk, v, rotations, self.bucket_size, self.causal)
        return self.W_o(attended.transpose(1, 2).flatten(2))
