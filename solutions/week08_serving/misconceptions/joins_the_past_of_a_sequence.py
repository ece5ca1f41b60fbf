"""Copies what is already there in every append.

Exercise: PagedCache
Believes: A dict of tensors is simpler than pages.
Shows: Right results; but each token copies what came before it.
Hint: One pool is allocated at the beginning, and it is your own. What has to move when one token comes?
Rejected by: test_old_positions_are_not_copied
Costs: 35 %
Same as: copies_the_pool because both make a tensor as large as what is there
"""


class PagedCache(PagedCache):
    def append(self, seq, k, v):
        super().append(seq, k, v)
        past = self._joined.get(seq) if hasattr(self, "_joined") else None
        k, v = (k, v) if past is None else (torch.cat([past[0], k], 1), torch.cat([past[1], v], 1))
        self._joined = getattr(self, "_joined", {}) | {seq: (k, v)}

    def gather(self, seq):
        return self._joined[seq]

    def free(self, seq):
        super().free(seq)
        del self._joined[seq]
