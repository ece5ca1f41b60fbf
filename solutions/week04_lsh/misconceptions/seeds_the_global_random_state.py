"""Seeds torch's global generator.

Exercise: LSHAttention
Believes: A generator is a seed.
Shows: Right numbers, but everything random that comes after it is changed.
Hint: torch.randn has an argument for the generator. Then no other code is affected.
Rejected by: test_draws_from_the_generator
Costs: 20 %
"""


class LSHAttention(LSHAttention):
    def forward(self, x, rotations=None, generator=None):
        if rotations is None:
            n_chunks = x.shape[1] // self.bucket_size
            size = (self.n_hashes, x.shape[2] // self.num_heads, (n_chunks + 1) // 2)
            if generator is not None:
                torch.manual_seed(generator.initial_seed())
            rotations = torch.randn(size, device=x.device)
        return super().forward(x, rotations)
