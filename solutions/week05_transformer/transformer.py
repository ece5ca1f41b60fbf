"""Week 5: a small transformer that you train and that generates text.

You build a decoder-only language model around last weeks' attention: a table of positions
(Vaswani et al., 2017, §3.5), a block that adds the outputs of attention and of a feed-forward
layer to its input, a stack of such blocks between an embedding and an output layer, the training
loop, and the generation loop.

Shapes: `B` batch, `T` tokens, `C` width of the model (`d_model`), `H` heads, `V` size of the
vocabulary. Token ids are int64 and run from 0 to V - 1.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


class CausalSelfAttention(nn.Module):
    """Provided, from week 3: multi-head self-attention that never looks ahead.

    `qkv` is a bias-free Linear(d_model, 3·d_model), `proj` a bias-free Linear(d_model, d_model).
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"d_model = {d_model} cannot be cut into {n_heads} equal heads")
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.proj = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: torch.Tensor, return_weights: bool = False
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        """x (B, T, C) -> y (B, T, C), or (y, weights (B, H, T, T)), the weights before dropout."""
        parts = self.qkv(x).unflatten(-1, (3, self.n_heads, -1))  # (B, T, 3, H, d)
        q, k, v = parts.permute(2, 0, 3, 1, 4)  # each (B, H, T, d)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, T)
        tokens = x.shape[1]
        causal = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril()
        weights = torch.softmax(scores.masked_fill(~causal, -math.inf), dim=-1)
        y = self.proj((self.dropout(weights) @ v).transpose(1, 2).flatten(2))
        return (y, weights) if return_weights else y


def sinusoidal_positions(seq_len: int, d_model: int) -> torch.Tensor:
    """Compute the positional table of "Attention Is All You Need" (Vaswani et al., 2017, §3.5).

    Row `pos` contains sin(pos / 10000^(2i/C)) in column 2i and cos(pos / 10000^(2i/C)) in column
    2i + 1, for pos = 0 … T - 1.

    Returns:
        (T, C), float32.

    Raises:
        ValueError: d_model is odd, so a sine would be left without its cosine; the message
            contains d_model.
    """
    # TODO: one frequency for every *pair* of columns: one sine column and one cosine column.
    # BEGIN SOLUTION
    if d_model % 2:
        raise ValueError(f"d_model = {d_model} is odd: sines and cosines come in pairs")
    positions = torch.arange(seq_len, dtype=torch.float64)
    frequencies = 10000.0 ** -(torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angles = positions[:, None] * frequencies  # (T, C/2), in double: large angles lose digits
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).float()
    # END SOLUTION


class TransformerBlock(nn.Module):
    """A pre-norm transformer block: attention, then a feed-forward layer, each added to its input.

    `ln1`, `ln2`: LayerNorm(d_model); `attn`: CausalSelfAttention; `ff`: Sequential of
    Linear(d_model, d_ff), GELU, Linear(d_ff, d_model) and Dropout. The order "normalise, work, add"
    is the one of GPT-2 (Xiong et al., 2020, "On Layer Normalization in the Transformer
    Architecture", §3); the paper of 2017 normalises after adding.

    Raises:
        ValueError: d_model is not divisible by n_heads.
    """

    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        # TODO: make ln1, attn, ln2 and ff. `dropout` goes to two of them.
        # BEGIN SOLUTION
        self.ln1 = nn.LayerNorm(d_model)
        self.attn = CausalSelfAttention(d_model, n_heads, dropout)
        self.ln2 = nn.LayerNorm(d_model)
        self.ff = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model), nn.Dropout(dropout)
        )
        # END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x (B, T, C) -> (B, T, C); x itself is not modified."""
        # TODO: x + attn(ln1(x)), and then the same with ff and ln2 on the *new* x.
        # BEGIN SOLUTION
        x = x + self.attn(self.ln1(x))
        return x + self.ff(self.ln2(x))
        # END SOLUTION


class MiniTransformer(nn.Module):
    """A decoder-only language model: for every token, the logits of the next token.

    `embed`: Embedding(vocab_size, d_model), neither scaled nor tied to the head; to it the
    sinusoidal positions are added, which are fixed and not part of the state dict; `blocks`:
    n_layers TransformerBlocks with d_ff = 4·d_model; `ln_f`: LayerNorm(d_model); `head`: a
    bias-free Linear(d_model, vocab_size). Dropout is applied inside the blocks only.

    Attributes:
        max_len: the longest sequence that the model accepts.

    Raises:
        ValueError: d_model is odd, or not divisible by n_heads.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_heads: int,
        n_layers: int,
        max_len: int,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        # TODO: make the parts in the order of the docstring. The table of positions has to move
        # with the model (`model.to(...)`) without being saved with it: look up `register_buffer`.
        # BEGIN SOLUTION
        self.max_len = max_len
        self.embed = nn.Embedding(vocab_size, d_model)
        self.register_buffer("positions", sinusoidal_positions(max_len, d_model), persistent=False)
        self.blocks = nn.ModuleList(
            TransformerBlock(d_model, n_heads, 4 * d_model, dropout) for _ in range(n_layers)
        )
        self.ln_f = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        # END SOLUTION

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """ids (B, T) -> logits (B, T, V).

        Raises:
            ValueError: T is larger than max_len; the message contains T.
        """
        # TODO: embed, add the first T positions, apply the blocks, ln_f and the head.
        # BEGIN SOLUTION
        tokens = ids.shape[1]
        if tokens > self.max_len:
            raise ValueError(f"{tokens} tokens are more than max_len = {self.max_len}")
        x = self.embed(ids) + self.positions[:tokens]
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln_f(x))
        # END SOLUTION


def fit(
    model: nn.Module, inputs: torch.Tensor, targets: torch.Tensor, steps: int, lr: float = 1e-2
) -> list[float]:
    """Train `model` on the whole batch, `steps` times, with Adam (Kingma and Ba, 2015).

    Args:
        model: takes ids (B, T), returns logits (B, T, V). It is trained in training mode; then
            its previous mode (training or evaluation) is restored.
        inputs: ids (B, T).
        targets: ids (B, T); targets[b, t] is the token to predict at position t. They are used
            as given: the caller has already shifted the text by one.
        lr: the learning rate.

    Returns:
        The loss of every step, before the step's update, as Python floats: the cross-entropy in
        nats, averaged over all positions of all sequences.
    """
    # TODO: one optimiser for all steps; in each step: gradients cleared, loss, backward, update.
    # BEGIN SOLUTION
    was_training = model.training
    model.train()
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        logits = model(inputs)  # (B, T, V)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    model.train(was_training)
    return losses
    # END SOLUTION


def generate(
    model: nn.Module,
    prompt: torch.Tensor,
    max_new_tokens: int,
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    """Continue each sequence of `prompt` with `model`, token by token.

    Every new token is drawn by one torch.multinomial(softmax(logits / temperature), 1) for the
    whole batch, from the logits of the last token; at temperature 0 it is the most likely one.

    Args:
        model: takes ids (B, T) with T ≤ model.max_len, returns logits (B, T, V). It is used in
            evaluation mode; then its previous mode is restored.
        prompt: ids (B, T), T ≥ 1; may be longer than max_len: feed the model the last max_len.
        temperature: 0 or larger.
        generator: the random generator for the draws.

    Returns:
        ids (B, T + max_new_tokens), the prompt included. No gradient is recorded on the way.
    """
    # TODO: a loop; in it: crop the input of the model, take the last logits, choose, append.
    # BEGIN SOLUTION
    was_training = model.training
    model.eval()
    ids = prompt
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits = model(ids[:, -model.max_len :])[:, -1]  # (B, V)
            if temperature == 0:
                chosen = logits.argmax(dim=-1, keepdim=True)
            else:
                probabilities = torch.softmax(logits / temperature, dim=-1)
                chosen = torch.multinomial(probabilities, 1, generator=generator)
            ids = torch.cat([ids, chosen], dim=1)
    model.train(was_training)
    return ids
    # END SOLUTION
