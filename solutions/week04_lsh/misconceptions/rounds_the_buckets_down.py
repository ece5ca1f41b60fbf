"""Rounds an odd number of buckets down to an even one.

Exercise: LSHAttention
Believes: An integer division rounds as it should.
Shows: With an odd number of chunks one column is missing, so that all numbers drawn for the
    rotations differ.
Hint: Three chunks: which even number of buckets does the docstring require, and how many columns is
    that?
Rejected by: test_odd_number_of_chunks
Costs: 20 %
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
                max(1, length // self.bucket_size // 2),
            )
            rotations = torch.randn(size, generator=generator, device=x.device)
        qk = self.W_qk(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        v = self.W_v(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        attended = lsh_attention(qk, v, rotations, self.bucket_size, self.causal)
        return self.W_o(attended.transpose(1, 2).flatten(2))
