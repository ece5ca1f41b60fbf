"""Writes everything so far into the buffers again at every append.

Exercise: KVCache
Believes: The result has to be assembled first.
Shows: Right results, but each token costs as much as the whole cache.
Hint: Which slots of the buffers change with a new token? Only these have
    to be written.
Rejected by: test_old_positions_are_not_copied
Costs: 30 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        new, room = k.shape[2], self.keys.shape[2]
        end = self.length + new
        if end > room:
            raise ValueError(f"{end} positions do not fit in a cache of {room}")
        self.pieces = [*getattr(self, "pieces", []), (k.detach().clone(), v.detach().clone())]
        self.keys.zero_()
        self.values.zero_()
        at = 0
        for keys, values in self.pieces:
            self.keys[:, :, at : at + keys.shape[2]] = keys
            self.values[:, :, at : at + keys.shape[2]] = values
            at += keys.shape[2]
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]
