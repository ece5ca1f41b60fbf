"""Takes the pages that are left, and then refuses.

Exercise: PagedCache
Believes: The tokens that fit are stored, and the error reports the rest.
Shows: After a refusal some of the positions are in the cache.
Hint: The caller will try again with all of them. Then some would be there twice.
Rejected by: test_a_refusal_changes_nothing
Costs: 30 %
Same as: takes_pages_before_it_refuses because both leave no page after a refusal
"""

_Paged = PagedCache


class PagedCache(PagedCache):
    def append(self, seq, k, v):
        for i in range(k.shape[1]):
            if self._lengths.get(seq, 0) % self.page_size == 0 and not self._free:
                raise ValueError(f"{self.free_pages} pages are free, for {k.shape[1]} positions")
            super().append(seq, k[:, i : i + 1], v[:, i : i + 1])
