"""Copies all positions so far into the buffers at every append.

Exercise: KVCache
Believes: The buffers are the result, so they are filled when a result is returned.
Shows: Right results, but each token copies everything that came before it.
Hint: What is in the buffers already? Only the new positions have to be written.
Rejected by: test_old_positions_are_not_copied
Costs: 30 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        new, room = k.shape[2], self.keys.shape[2]
        end = self.length + new
        if end > room:
            raise ValueError(f"{end} positions do not fit in a cache of {room}")
        self.positions = [*getattr(self, "positions", []), *zip(k.unbind(2), v.unbind(2))]
        for place, (key, value) in enumerate(self.positions):
            self.keys[:, :, place] = key.detach()
            self.values[:, :, place] = value.detach()
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]
