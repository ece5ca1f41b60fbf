"""Does the same with and without causal.

Exercise: LSHAttention
Believes: Storing the flag is enough.
Shows: A causal module answers like one that is not.
Hint: Follow `causal` from the constructor to the scores. Where does it get lost?
Rejected by: test_causal
Costs: 30 %
Belief: causal_ignored
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
        qk = self.W_qk(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        v = self.W_v(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        attended = lsh_attention(qk, v, rotations, self.bucket_size)
        return self.W_o(attended.transpose(1, 2).flatten(2))
