"""Counts the pages that are filled, and none for the rest.

Exercise: PagedCache
Believes: `//` says how many pages the positions take.
Shows: The positions of a page that is not full have no page.
Hint: How many pages do 5 positions take, if a page holds 4? What does 5 // 4 say?
Rejected by: test_what_was_appended
Costs: 35 %
"""


class PagedCache(PagedCache):
    def append(self, seq: Hashable, k: torch.Tensor, v: torch.Tensor) -> None:
        start, new = (self._lengths.get(seq, 0), k.shape[1])
        pages = self._pages.get(seq, [])
        missing = max(1, (start + new) // self.page_size) - len(pages)
        if missing > len(self._free):
            raise ValueError(f'{missing} more pages are needed, and {len(self._free)} are free')
        pages += [self._free.pop() for _ in range(missing)]
        self.free_pages = len(self._free)
        self._pages[seq], self._lengths[seq] = (pages, start + new)
        places = range(start, start + new)
        page = torch.tensor([pages[place // self.page_size] for place in places])
        slot = torch.tensor([place % self.page_size for place in places])
        self.keys[page, slot] = k.detach().transpose(0, 1)
        self.values[page, slot] = v.detach().transpose(0, 1)
