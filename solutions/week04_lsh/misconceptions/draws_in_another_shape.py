"""Draws the rotations in a different shape and transposes them.

Exercise: LSHAttention
Believes: Only the final shape matters.
Shows: The shape is right, but the numbers are in different positions from one draw of that shape.
Hint: Draw in the shape that the docstring gives, axis by axis.
Rejected by: test_draws_from_the_generator
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
            size = (self.n_hashes, d_model // self.num_heads, (length // self.bucket_size + 1) // 2)
            rotations = torch.randn(
                size[0], size[2], size[1], generator=generator, device=x.device
            ).transpose(1, 2)
        qk = self.W_qk(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        v = self.W_v(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        attended = lsh_attention(qk, v, rotations, self.bucket_size, self.causal)
        return self.W_o(attended.transpose(1, 2).flatten(2))
