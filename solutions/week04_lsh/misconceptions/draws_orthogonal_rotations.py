"""Makes the columns of each rotation orthogonal after drawing them.

Exercise: LSHAttention
Believes: What is called a rotation must be one.
Shows: The directions differ from the ones that were drawn, and so do the buckets.
Hint: Strictly, a matrix of random normal numbers is not a rotation; the docstring still requires
    it.
Rejected by: test_draws_from_the_generator
Costs: 20 %
"""


class LSHAttention(LSHAttention):
    def forward(self, x, rotations=None, generator=None):
        if rotations is None:
            n_chunks = x.shape[1] // self.bucket_size
            size = (self.n_hashes, x.shape[2] // self.num_heads, (n_chunks + 1) // 2)
            drawn = torch.randn(size, generator=generator, device=x.device)
            rotations = torch.linalg.qr(drawn).Q
        return super().forward(x, rotations)
