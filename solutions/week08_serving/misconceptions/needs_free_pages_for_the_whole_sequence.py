"""Refuses unless enough pages are free for the whole sequence.

Exercise: PagedCache
Believes: The pages of a sequence have to be free when it grows.
Shows: A long sequence cannot grow, although pages are free.
Hint: A pool has four pages, and a sequence fills three of them. How many more does its next token
    need, and with which number do you compare the free ones?
Rejected by: test_filled_to_the_last_place
Costs: 25 %
"""


class PagedCache(PagedCache):
    def append(self, seq, k, v):
        wanted = math.ceil((self._lengths.get(seq, 0) + k.shape[1]) / self.page_size)
        if wanted > len(self._free):
            raise ValueError(f"{wanted} pages are needed, and {len(self._free)} are free")
        super().append(seq, k, v)
