"""Stores slices of the joined tensors.

Exercise: RollingCache
Believes: A slice of three rows takes the memory of three rows.
Shows: Results are correct, but the memory of a long chunk stays alive.
Hint: Print `x[:, :, -2:].untyped_storage().nbytes()` for a large x. What does a slice refer to?
Rejected by: test_memory_after_a_long_chunk
Costs: 30 %
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
        first = int(kept[:self.sinks].sum())
        last = int(kept.sum()) - first
        moved = torch.cat([keys[:, :, :first], keys[:, :, keys.shape[2] - last:]], dim=2)
        self.stored = (moved, torch.cat([values, values[:, :, :first], values[:, :, keys.shape[2] - last:]], dim=2)[:, :, keys.shape[2]:], positions[kept])
        return (keys, values, positions)
