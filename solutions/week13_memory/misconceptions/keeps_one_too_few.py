"""Keeps one position less than the window.

Exercise: RollingCache
Believes: The new query brings its own key, so the rest of the window is enough.
Shows: One position is missing in each result after the first eviction.
Hint: Append positions one by one to a window of 3. Which ones are returned with the fifth?
Rejected by: test_window_rolls
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
        kept = (positions < self.sinks) | (positions >= self.length - self.window + 1)
        self.stored = (keys[:, :, kept], values[:, :, kept], positions[kept])
        return (keys, values, positions)
