"""Gives only one page of a freed sequence back.

Exercise: PagedCache
Believes: The last page is the one in use.
Shows: A long sequence's other pages are lost.
Hint: A sequence of 9 positions has three pages of 4. How many are free after it ends?
Rejected by: test_pages_are_given_back
Costs: 30 %
"""


class PagedCache(PagedCache):
    def free(self, seq):
        self._free.append(self._pages.pop(seq)[-1])
        del self._lengths[seq]
        self.free_pages = len(self._free)
