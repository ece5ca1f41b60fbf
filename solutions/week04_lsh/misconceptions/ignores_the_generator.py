"""Draws the rotations without the generator that it is given.

Exercise: LSHAttention
Believes: A fixed seed makes the module reproducible.
Shows: The same rotations for every generator.
Hint: The caller wants to decide about the randomness. Which argument carries that decision?
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
            own = torch.Generator(x.device).manual_seed(42)
            rotations = torch.randn(size, generator=own, device=x.device)
        qk = self.W_qk(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        v = self.W_v(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        attended = lsh_attention(qk, v, rotations, self.bucket_size, self.causal)
        return self.W_o(attended.transpose(1, 2).flatten(2))
