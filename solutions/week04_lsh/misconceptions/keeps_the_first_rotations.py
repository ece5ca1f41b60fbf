"""Keeps the rotations of the first call and uses them in every later call.

Exercise: LSHAttention
Believes: Rotations are drawn once, like parameters.
Shows: The first call is right; later calls ignore their generator.
Hint: Call the module twice with generators of different seeds. Should the rotations be the same?
Rejected by: test_every_call_draws_anew
Costs: 25 %
"""


class LSHAttention(LSHAttention):
    def forward(self, x, rotations=None, generator=None):
        if rotations is None:
            n_chunks = x.shape[1] // self.bucket_size
            size = (self.n_hashes, x.shape[2] // self.num_heads, (n_chunks + 1) // 2)
            kept = getattr(self, "kept", None)
            if kept is None:
                kept = torch.randn(size, generator=generator, device=x.device)
            rotations = self.kept = kept
        return super().forward(x, rotations)
