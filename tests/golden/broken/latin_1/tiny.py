import torch


def weigh(scores, dim=-1):
    return torch.exp(scores) / torch.exp(scores).sum(dim, keepdim=True)


greeting = "Grüße"
