"""Keeps a tensor on the CPU where the input may be elsewhere.

Exercise: Scale
Believes: a new tensor follows its neighbours to their device.
Shows: works on the CPU, fails on a GPU.
Hint: On which device is a tensor made when nobody says?
Rejected by: test_device
Costs: 20 %
"""

class Scale(nn.Module):
    def __init__(self, size):
        super().__init__()
        if size < 1:
            raise ValueError(f"size {size}")
        self.factor = nn.Parameter(torch.ones(size))

    def forward(self, x):
        return x * self.factor + torch.zeros(x.shape[-1])
