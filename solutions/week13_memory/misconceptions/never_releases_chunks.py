"""Keeps all appended chunks in memory.

Exercise: RollingCache
Believes: What is not returned takes no memory.
Shows: Results are correct, but memory and work grow with each append.
Hint: How many tensors are reachable from your cache after a thousand appends?
Rejected by: test_memory_token_by_token
Costs: 35 %
"""

class RollingCache:

    def __init__(self, window, sinks=0):
        if window < 1:
            raise ValueError(f'window = {window} is below 1')
        if sinks < 0:
            raise ValueError(f'sinks = {sinks} is below 0')
        self.window, self.sinks, self.length = (window, sinks, 0)
        self.stored = None
        self.chunks = []

    def append(self, k, v):
        positions = torch.arange(self.length, self.length + k.shape[2], device=k.device)
        keys, values = (k.detach(), v.detach())
        if self.stored is not None:
            keys = torch.cat([self.stored[0], keys], dim=2)
            values = torch.cat([self.stored[1], values], dim=2)
            positions = torch.cat([self.stored[2], positions])
        self.length += k.shape[2]
        self.chunks.append((k.detach().clone(), v.detach().clone()))
        kept = (positions < self.sinks) | (positions >= self.length - self.window)
        self.stored = (keys[:, :, kept], values[:, :, kept], positions[kept])
        return (keys, values, positions)
