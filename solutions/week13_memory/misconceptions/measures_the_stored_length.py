"""Sets `length` to the number of stored positions.

Exercise: RollingCache
Believes: The length of a cache is what it contains.
Shows: `length` stops growing at the first eviction, and positions repeat.
Hint: What is `length` after a thousand tokens, with a window of 8?
Rejected by: test_length
Costs: 35 %
"""

class RollingCache:

    def __init__(self, window, sinks=0):
        if window < 1:
            raise ValueError(f'window = {window} is below 1')
        if sinks < 0:
            raise ValueError(f'sinks = {sinks} is below 0')
        self.window, self.sinks, self.length = (window, sinks, 0)
        self.stored: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None

    def append(self, k, v):
        positions = torch.arange(self.length, self.length + k.shape[2], device=k.device)
        keys, values = (k.detach(), v.detach())
        if self.stored is not None:
            keys = torch.cat([self.stored[0], keys], dim=2)
            values = torch.cat([self.stored[1], values], dim=2)
            positions = torch.cat([self.stored[2], positions])
        self.length += k.shape[2]
        kept = (positions < self.sinks) | (positions >= self.length - self.window)
        self.stored = (keys[:, :, kept], values[:, :, kept], positions[kept])
        self.length = int(kept.sum())
        return (keys, values, positions)
