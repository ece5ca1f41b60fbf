"""Checks only the window.

Exercise: RollingCache
Believes: Sinks default to 0, so they cannot be negative.
Shows: A negative number of sinks raises no error.
Hint: What does your constructor do with `sinks = -2`?
Rejected by: test_refuses_bad_sizes
Costs: 15 %
"""

class RollingCache:

    def __init__(self, window, sinks=0):
        if window < 1:
            raise ValueError(f'window = {window} is below 1')
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
        return (keys, values, positions)
