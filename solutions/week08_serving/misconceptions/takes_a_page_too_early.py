"""Takes the next page as soon as the last one is full.

Exercise: PagedCache
Believes: The next token needs a place, so it had better be there.
Shows: One page too many whenever the last page is full.
Hint: A page is taken when a position comes that has no place. Is one coming?
Rejected by: test_pages_as_needed
Costs: 25 %
"""


class PagedCache(PagedCache):
    def append(self, seq, k, v):
        super().append(seq, k, v)
        pages = self._pages[seq]
        if self._lengths[seq] == len(pages) * self.page_size and self._free:
            pages.append(self._free.pop())
            self.free_pages = len(self._free)
