"""Makes new tensors of all positions in every append.

Exercise: KVCache
Believes: Appending to a tensor is torch.cat.
Shows: Right results, but every append copies all that is there.
Hint: How many positions does an append of one token copy if a thousand are there? The buffers are
    allocated once: write into them.
Rejected by: test_old_positions_are_not_copied
Costs: 35 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        new = k.shape[2]
        if self.length + new > self.keys.shape[2]:
            raise ValueError(f"{self.length + new} positions do not fit")
        k, v = k.to(self.keys), v.to(self.values)
        if self.length:
            k, v = torch.cat([self.so_far[0], k], dim=2), torch.cat([self.so_far[1], v], dim=2)
        self.so_far = k, v
        self.length += new
        return k, v
