"""Draws the rotations on the CPU, wherever x is.

Exercise: LSHAttention
Believes: torch.randn knows the right device.
Shows: Right on the CPU; a device error on a GPU.
Hint: A tensor created inside a module needs a device.
Rejected by: test_draws_where_the_input_is
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
            rotations = torch.randn(size, generator=generator)
        qk = self.W_qk(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        v = self.W_v(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        attended = lsh_attention(qk, v, rotations, self.bucket_size, self.causal)
        return self.W_o(attended.transpose(1, 2).flatten(2))
