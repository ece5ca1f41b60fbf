"""Shares its stored keys with other caches.

Exercise: RollingCache
Believes: A class attribute is a default.
Shows: A second cache continues the sequence of the first.
Hint: Create two caches and append to one of them. What does the other return?
Rejected by: test_caches_are_apart
Costs: 35 %
"""

class RollingCache:
    stored = None

    def __init__(self, window, sinks=0):
        if window < 1:
            raise ValueError(f'window = {window} is below 1')
        if sinks < 0:
            raise ValueError(f'sinks = {sinks} is below 0')
        self.window, self.sinks, self.length = (window, sinks, 0)

    def append(self, k, v):
        positions = torch.arange(self.length, self.length + k.shape[2], device=k.device)
        keys, values = (k.detach(), v.detach())
        if self.stored is not None:
            keys = torch.cat([self.stored[0], keys], dim=2)
            values = torch.cat([self.stored[1], values], dim=2)
            positions = torch.cat([self.stored[2], positions])
        self.length += k.shape[2]
        kept = (positions < self.sinks) | (positions >= self.length - self.window)
        RollingCache.stored = (keys[:, :, kept], values[:, :, kept], positions[kept])
        return (keys, values, positions)
