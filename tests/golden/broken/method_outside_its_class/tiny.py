import torch


def weigh(scores, dim=-1):
    return torch.exp(scores) / torch.exp(scores).sum(dim, keepdim=True)


class Scale(torch.nn.Module):

def __init__(self, size):
    super().__init__()
