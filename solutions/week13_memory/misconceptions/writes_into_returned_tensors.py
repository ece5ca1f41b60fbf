"""Reuses one buffer for all results.

Exercise: RollingCache
Believes: A result is read before the next append.
Shows: Tensors that were returned before change with the next append.
Hint: Keep the result of an append and append again. Is the first result the same as before?
Rejected by: test_earlier_results_stay
Costs: 20 %
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
        if getattr(self, 'buffer', None) is None or self.buffer[0].shape != keys.shape or self.buffer[0].dtype != keys.dtype:
            self.buffer = (keys.clone(), values.clone(), positions.clone())
        for old, new in zip(self.buffer, (keys, values, positions)):
            old.copy_(new)
        return self.buffer
