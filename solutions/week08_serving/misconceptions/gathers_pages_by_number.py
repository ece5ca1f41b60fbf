"""Puts the pages of a sequence in the order of their numbers.

Exercise: PagedCache
Believes: Later pages have larger numbers.
Shows: Right while pages are allocated in order; wrong after some are freed.
Hint: The order is that in which the sequence took its pages. Who remembers it?
Rejected by: test_pages_are_given_back
Costs: 35 %
"""


class PagedCache(PagedCache):
    def append(self, seq, k, v):
        self._free.sort(reverse=True)  # the smallest number first, as long as none came back
        if getattr(self, "_given_back", False):
            self._free.reverse()
        super().append(seq, k, v)

    def free(self, seq):
        super().free(seq)
        self._given_back = True

    def gather(self, seq):
        pages, self._pages[seq] = self._pages[seq], sorted(self._pages[seq])
        result = super().gather(seq)
        self._pages[seq] = pages
        return result
