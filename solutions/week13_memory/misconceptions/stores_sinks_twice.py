"""Joins the first and the last positions, even if they overlap.

Exercise: RollingCache
Believes: The sinks lie before the window.
Shows: While the sequence is short, its first positions are stored twice.
Hint: After 3 positions, with 2 sinks and a window of 4: how many positions may be stored, and how
    many do you store?
Rejected by: test_sinks_stay
Costs: 25 %
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
        kept = torch.arange(len(positions), device=k.device)
        kept = torch.cat([kept[:self.sinks], kept[-self.window:]])
        self.stored = (keys[:, :, kept], values[:, :, kept], positions[kept])
        return (keys, values, positions)
