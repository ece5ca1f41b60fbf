"""Takes new pages in every append.

Exercise: PagedCache
Believes: Tokens of one call belong on a separate page.
Shows: Token by token, each takes a whole page.
Hint: How much of a sequence's last page is still free? Fill it first.
Rejected by: test_pages_as_needed
Costs: 30 %
"""


class PagedCache(PagedCache):
    def append(self, seq, k, v):
        wanted = math.ceil(k.shape[1] / self.page_size)
        if wanted > self.free_pages:
            raise ValueError(f"{wanted} pages are needed, {self.free_pages} are free")
        for page in range(wanted):
            part = slice(page * self.page_size, (page + 1) * self.page_size)
            number = self._free.pop()
            count = k[:, part].shape[1]
            self.keys[number, :count] = k[:, part].detach().transpose(0, 1)
            self.values[number, :count] = v[:, part].detach().transpose(0, 1)
            self._pages.setdefault(seq, []).append((number, count))
        self.free_pages = len(self._free)

    def gather(self, seq):
        keys = torch.cat([self.keys[n, :count] for n, count in self._pages[seq]])
        values = torch.cat([self.values[n, :count] for n, count in self._pages[seq]])
        return keys.transpose(0, 1), values.transpose(0, 1)

    def free(self, seq):
        self._free += [number for number, _ in self._pages.pop(seq)]
        self.free_pages = len(self._free)
