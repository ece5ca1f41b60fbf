"""Stores keys and values in the pages together with the graph that computed them.

Exercise: PagedCache
Believes: A copy into the pool is cut off from the computation that made the new tensors.
Shows: The values are right, but the pool requires gradients, so the graphs of all steps are kept.
Hint: Append a tensor with requires_grad=True. Does what you gather require a gradient?
Rejected by: test_stores_no_graph
Costs: 15 %
"""


class PagedCache(PagedCache):
    def append(self, seq, k, v):
        start, new = self._lengths.get(seq, 0), k.shape[1]
        pages = self._pages.get(seq, [])
        missing = math.ceil((start + new) / self.page_size) - len(pages)
        if missing > len(self._free):
            raise ValueError(f"{missing} pages are missing, and {len(self._free)} are free")
        pages += [self._free.pop() for _ in range(missing)]
        self.free_pages = len(self._free)
        self._pages[seq], self._lengths[seq] = pages, start + new
        for place in range(new):
            page, slot = divmod(start + place, self.page_size)
            self.keys[pages[page], slot] = k[:, place]
            self.values[pages[page], slot] = v[:, place]
