"""Creates a tensor on the CPU.

Exercise: ov_circuit
Believes: New tensors are where the data are.
Shows: An error on a GPU.
Hint: On which device is a tensor that you create?
Rejected by: test_device
Costs: 15 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = embed @ W_V.mT
    read = unembed @ W_O
    found = torch.zeros(*values.shape[:-1], read.shape[-2], dtype=values.dtype)
    return found + values @ read.mT
