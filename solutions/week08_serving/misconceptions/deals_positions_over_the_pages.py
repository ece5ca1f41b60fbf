"""Deals the positions out over the sequence's pages, one to each in turn.

Exercise: PagedCache
Believes: Position i belongs to page i, modulo the number of pages.
Shows: Positions overwrite each other, and are returned in a different order.
Hint: With pages of 4, in which page does position 5 lie, and at which place? `//` gives the one,
    `%` the other.
Rejected by: test_what_was_appended
Costs: 35 %
"""


class PagedCache(PagedCache):
    def append(self, seq: Hashable, k: torch.Tensor, v: torch.Tensor) -> None:
        start, new = (self._lengths.get(seq, 0), k.shape[1])
        pages = self._pages.get(seq, [])
        missing = math.ceil((start + new) / self.page_size) - len(pages)
        if missing > len(self._free):
            raise ValueError(f'{missing} more pages are needed, and {len(self._free)} are free')
        pages += [self._free.pop() for _ in range(missing)]
        self.free_pages = len(self._free)
        self._pages[seq], self._lengths[seq] = (pages, start + new)
        places = range(start, start + new)
        page = torch.tensor([pages[place % len(pages)] for place in places])
        slot = torch.tensor([place % self.page_size for place in places])
        self.keys[page, slot] = k.detach().transpose(0, 1)
        self.values[page, slot] = v.detach().transpose(0, 1)
