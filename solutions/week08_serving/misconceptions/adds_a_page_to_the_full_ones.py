"""Takes a page too many when the positions fill their pages exactly.

Exercise: PagedCache
Believes: Behind the full pages there is always one that is not.
Shows: A sequence that ends with a page holds a page too many.
Hint: How many pages do 8 positions take, if a page holds 4? How many does your cache take?
Rejected by: test_pages_as_needed
Costs: 30 %
"""


class PagedCache(PagedCache):
    def append(self, seq: Hashable, k: torch.Tensor, v: torch.Tensor) -> None:
        start, new = (self._lengths.get(seq, 0), k.shape[1])
        pages = self._pages.get(seq, [])
        missing = ((start + new) // self.page_size + 1) - len(pages)
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
