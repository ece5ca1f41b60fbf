"""Drops the oldest positions when it is full.

Exercise: KVCache
Believes: A full cache makes room, like any cache.
Shows: No error; the first positions are lost silently.
Hint: A model that loses its prompt silently writes nonsense. What does the docstring require?
Rejected by: test_refuses_what_does_not_fit
Costs: 30 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        room = self.keys.shape[2]
        k, v = k[:, :, -room:], v[:, :, -room:]
        surplus = max(0, self.length + k.shape[2] - room)
        if surplus:
            for buffer in (self.keys, self.values):
                buffer[:, :, : room - surplus] = buffer[:, :, surplus:].clone()
            self.length -= surplus
        return super().append(k, v)
