"""Makes `free_pages` a method.

Exercise: PagedCache
Believes: One asks an object by calling it.
Shows: `cache.free_pages` is a method, not a number.
Hint: The docstring lists it under attributes. A plain attribute will do, or a property.
Rejected by: test_pages_as_needed
Costs: 20 %
"""


class PagedCache(PagedCache):
    def __init__(self, num_pages, page_size, n_kv_heads, d):
        super().__init__(num_pages, page_size, n_kv_heads, d)
        del self.__dict__["free_pages"]

    def free_pages(self):
        return len(self._free)

    def append(self, seq, k, v):
        missing = math.ceil((self._lengths.get(seq, 0) + k.shape[1]) / self.page_size)
        if missing - len(self._pages.get(seq, [])) > len(self._free):
            raise ValueError(f"{len(self._free)} pages are free, for {k.shape[1]} positions")
        super().append(seq, k, v)
        del self.__dict__["free_pages"]

    def free(self, seq):
        super().free(seq)
        del self.__dict__["free_pages"]
