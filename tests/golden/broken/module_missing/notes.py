import torch

print(torch.zeros(2))
