"""Plain library calls that come close to an exercise of this week, and do none of its work."""


def online_softmax__of_the_last_block(blocks):
    block = list(blocks)[-1]
    return block.amax(-1), torch.exp(block - block.amax(-1, keepdim=True)).sum(-1)


def online_softmax__without_a_shift(blocks):
    whole = torch.cat(list(blocks), -1)
    return whole.amax(-1), whole.exp().sum(-1)


def tiled_attention__without_the_mask(q, k, v, block_size=64, causal=False):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    return torch.softmax(scores, -1) @ v, torch.logsumexp(scores, -1)


def online_softmax__of_joined_blocks(blocks):
    whole = torch.cat(list(blocks), -1)
    largest = whole.amax(-1, keepdim=True)
    return largest.squeeze(-1), (whole - largest).exp().sum(-1)


def tiled_attention__in_one_block(q, k, v, block_size=64, causal=False):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if causal:
        scores = scores + torch.full_like(scores, -torch.inf).triu(1)
    return scores.softmax(-1) @ v, scores.logsumexp(-1)


class FlashAttention__leaves_its_gradient_to_autograd:
    @staticmethod
    def apply(q, k, v, block_size, causal):
        return tiled_attention__in_one_block(q, k, v, causal=causal)[0]
