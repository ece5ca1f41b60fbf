"""Keeps the length of a freed sequence.

Exercise: PagedCache
Believes: Only the pages have to be freed.
Shows: A new sequence of the same name begins where the old one ended.
Hint: What do you know of a sequence? All of it must go.
Rejected by: test_a_name_starts_anew
Costs: 30 %
"""


class PagedCache(PagedCache):
    def free(self, seq):
        length = self._lengths[seq]
        pages = len(self._pages[seq])
        super().free(seq)
        self._old = getattr(self, "_old", {}) | {seq: (length, pages)}

    def append(self, seq, k, v):
        length, _ = getattr(self, "_old", {}).pop(seq, (0, 0))
        if length:
            super().append(
                seq,
                k.new_zeros(len(k), length, k.shape[2]),
                v.new_zeros(len(v), length, v.shape[2]),
            )
        super().append(seq, k, v)
