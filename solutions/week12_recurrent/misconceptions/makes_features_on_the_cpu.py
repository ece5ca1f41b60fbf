"""Creates a tensor on the CPU.

Exercise: feature_map
Believes: A new tensor is on the device of the others.
Shows: An error on a GPU, or a result on the CPU.
Hint: On which device are the tensors that you create?
Rejected by: test_device
Costs: 15 %
"""

def feature_map(x):
    return torch.where(x > 0, x + torch.ones(x.shape, dtype=x.dtype), x.clamp(max=0).exp())
