"""Collects sinks during the first append only.

Exercise: RollingCache
Believes: The prompt is long enough.
Shows: If the first chunk is shorter than `sinks`, later sinks are evicted.
Hint: Append 4 tokens one by one with 4 sinks and a window of 1. Which are stored after the sixth?
Rejected by: test_sinks_arrive_in_parts
Costs: 30 %
"""

class RollingCache:

    def __init__(self, window, sinks=0):
        if window < 1:
            raise ValueError(f'window = {window} is below 1')
        if sinks < 0:
            raise ValueError(f'sinks = {sinks} is below 0')
        self.window, self.sinks, self.length = (window, sinks, 0)
        self.wanted = sinks
        self.stored: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None

    def append(self, k, v):
        positions = torch.arange(self.length, self.length + k.shape[2], device=k.device)
        keys, values = (k.detach(), v.detach())
        if self.stored is not None:
            keys = torch.cat([self.stored[0], keys], dim=2)
            values = torch.cat([self.stored[1], values], dim=2)
            positions = torch.cat([self.stored[2], positions])
        if self.length == 0:
            self.sinks = min(self.wanted, k.shape[2])
        self.length += k.shape[2]
        kept = (positions < self.sinks) | (positions >= self.length - self.window)
        self.stored = (keys[:, :, kept], values[:, :, kept], positions[kept])
        return (keys, values, positions)
