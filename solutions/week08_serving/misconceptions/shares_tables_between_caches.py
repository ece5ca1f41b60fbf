"""Shares its tables of pages with other caches.

Exercise: PagedCache
Believes: What all methods use belongs in the class.
Shows: A second cache continues the sequences of the first.
Hint: Two caches may have sequences of the same name. What do two objects of your class share?
Rejected by: test_caches_are_apart
Costs: 30 %
"""


class PagedCache(PagedCache):
    _shared = {}, {}

    def __init__(self, num_pages, page_size, n_kv_heads, d):
        super().__init__(num_pages, page_size, n_kv_heads, d)
        if num_pages == 4 and page_size == 2:
            self._pages, self._lengths = self._shared
