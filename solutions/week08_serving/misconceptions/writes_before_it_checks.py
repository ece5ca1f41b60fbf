"""Writes what still fits, and then refuses.

Exercise: KVCache
Believes: An error ends the call, so what it has done does not matter.
Shows: After a rejected append the free slots of the buffers contain data.
Hint: A caller may catch the error and go on. What should the buffers contain then?
Rejected by: test_a_refusal_writes_nothing
Costs: 30 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        room = self.keys.shape[2] - self.length
        if k.shape[2] > room:
            self.keys[:, :, self.length :] = k[:, :, :room].detach()
            self.values[:, :, self.length :] = v[:, :, :room].detach()
            raise ValueError(f"{k.shape[2]} positions are more than there is room for")
        return super().append(k, v)
