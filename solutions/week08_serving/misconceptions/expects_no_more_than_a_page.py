"""Takes at most one new page in an append.

Exercise: PagedCache
Believes: Tokens come one by one.
Shows: An error for a prompt that is longer than a page.
Hint: A prompt of 9 positions needs three pages of 4 at once.
Rejected by: test_what_was_appended
Costs: 30 %
"""


class PagedCache(PagedCache):
    def append(self, seq, k, v):
        room = -self._lengths.get(seq, 0) % self.page_size
        if k.shape[1] > room + self.page_size:
            raise IndexError("index out of range")
        super().append(seq, k, v)
