"""Draws the rotations in the dtype of the input.

Exercise: LSHAttention
Believes: Everything has to have the dtype of x.
Shows: Right for float32; in other dtypes the generator gives different numbers.
Hint: hash_vectors takes care of the dtype. Which one does the docstring name for the draw?
Rejected by: test_draws_in_the_default_dtype
Costs: 15 %
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
            rotations = torch.randn(size, generator=generator, device=x.device, dtype=x.dtype)
        qk = self.W_qk(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        v = self.W_v(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        attended = lsh_attention(qk, v, rotations, self.bucket_size, self.causal)
        return self.W_o(attended.transpose(1, 2).flatten(2))
