"""Keeps the newest position at the end of the buffer and moves the others.

Exercise: KVCache
Believes: The newest belongs where the buffer ends.
Shows: Right at once; but results of earlier appends change, and everything is moved each time.
Hint: If nothing that was written ever moves, earlier results stay right. Where must writing begin
    then?
Rejected by: test_earlier_results_stay
Costs: 30 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        new = k.shape[2]
        if self.length + new > self.keys.shape[2]:
            raise ValueError(f"{self.length + new} positions do not fit")
        for buffer, x in ((self.keys, k), (self.values, v)):
            buffer[:, :, :-new] = buffer[:, :, new:].clone()
            buffer[:, :, -new:] = x.detach()
        self.length += new
        return self.keys[:, :, -self.length :], self.values[:, :, -self.length :]
