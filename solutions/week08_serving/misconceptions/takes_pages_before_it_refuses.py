"""Takes all pages there are, and then refuses.

Exercise: PagedCache
Believes: An error ends the call, so what it has done does not matter.
Shows: After a rejected append the free pages are lost.
Hint: Count first what is missing. Take pages only when there are enough.
Rejected by: test_a_refusal_changes_nothing
Costs: 30 %
"""


class PagedCache(PagedCache):
    def append(self, seq, k, v):
        pages = self._pages.setdefault(seq, [])
        self._lengths.setdefault(seq, 0)
        while len(pages) * self.page_size < self._lengths[seq] + k.shape[1]:
            if not self._free:
                raise ValueError(f"{self.free_pages} pages are free, for {k.shape[1]} positions")
            pages.append(self._free.pop())
            self.free_pages = len(self._free)
        super().append(seq, k, v)
