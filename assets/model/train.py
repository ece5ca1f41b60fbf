"""Train the language model of the course on Jane Austen's six novels.

    python train.py                  # about an hour on one core; continues after an interruption
    python train.py --steps 200      # a short run

Files written to the folder `--out`, from the first of which export.py writes all others:

- `checkpoint.pt`: the state of the training, from which it continues;
- `training.csv`: a row for every 100 steps with the step, the loss in bits per byte on the training
  text and on the held-out text (the last twentieth of each novel), and the induction score of
  every head.
"""

from __future__ import annotations

import argparse
import csv
import lzma
import math
import re
import time
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

HERE = Path(__file__).parent
HELD_OUT = 0.05  # of each novel, at its end
VOCABULARY, CONTEXT = 2048, 256
WIDTH, HEADS, KV_HEADS, LAYERS, HIDDEN = 192, 6, 2, 4, 512
BATCH, PEAK_RATE, WARM_UP, COOL_DOWN = 16, 2e-3, 200, 0.25
REPEATED = 2  # sequences per batch that repeat random tokens
SHORTEST, LONGEST = 10, 128  # tokens that such a sequence repeats
IGNORED = -100  # the target of a token that cannot be predicted
EVERY = 100  # steps between measurements
FIRST_MERGED = 256  # smaller tokens are bytes

Pair = tuple[int, int]


# Tokens


def chunks(text: str) -> list[str]:
    """Split a text into words with the space before them, punctuation and other white space."""
    return re.findall(r" ?\w+| ?[^\w\s]+|\s+", text)


def learn_merges(text: str, number: int) -> list[Pair]:
    """Learn byte-pair merges (Sennrich et al. 2016); of equally frequent pairs, the smallest."""
    words = Counter(chunks(text))
    pieces = [list(word.encode()) for word in words]
    times = list(words.values())
    counts: Counter[Pair] = Counter()
    where: defaultdict[Pair, set[int]] = defaultdict(set)
    for index, piece in enumerate(pieces):
        for pair in pairwise(piece):
            counts[pair] += times[index]
            where[pair].add(index)
    merges: list[Pair] = []
    while len(merges) < number:
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        for index in where.pop(best):
            for pair in pairwise(pieces[index]):
                counts[pair] -= times[index]
            pieces[index] = join(pieces[index], best, FIRST_MERGED - 1 + len(merges))
            for pair in pairwise(pieces[index]):
                counts[pair] += times[index]
                where[pair].add(index)
        del counts[best]
    return merges


def join(piece: list[int], pair: Pair, token: int) -> list[int]:
    """Replace each occurrence of a pair, from the left, by one token."""
    joined: list[int] = []
    for next_token in piece:
        if joined and (joined[-1], next_token) == pair:
            joined[-1] = token
        else:
            joined.append(next_token)
    return joined


def encode(text: str, merges: list[Pair]) -> list[int]:
    """Return the tokens of a text; in each word, the earliest learned pair is merged first."""
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    known: dict[str, list[int]] = {}
    for word in set(chunks(text)):
        piece = list(word.encode())
        while len(piece) > 1:
            best = min(pairwise(piece), key=lambda pair: ranks.get(pair, len(ranks)))
            if best not in ranks:
                break
            piece = join(piece, best, FIRST_MERGED + ranks[best])
        known[word] = piece
    return [token for word in chunks(text) for token in known[word]]


# The model


class RMSNorm(nn.Module):
    """Root mean square layer normalization (Zhang and Sennrich 2019)."""

    def __init__(self, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x: Tensor) -> Tensor:
        """x (..., C) -> (..., C)."""
        return x * (x.square().mean(-1, keepdim=True) + self.eps).rsqrt() * self.weight


def rotary(x: Tensor, base: float = 10000.0) -> Tensor:
    """Rotate the pairs (2i, 2i+1) of x (..., T, d) by position * base^(-2i/d) (Su et al. 2021)."""
    length, size = x.shape[-2:]
    angle = torch.arange(length)[:, None] * base ** (-torch.arange(0, size, 2) / size)
    cos, sin, even, odd = angle.cos(), angle.sin(), x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)


class Attention(nn.Module):
    """Causal grouped-query attention (Ainslie et al. 2023) with rotary positions."""

    def __init__(self) -> None:
        super().__init__()
        size = WIDTH // HEADS
        self.W_q, self.W_o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(2))
        self.W_k, self.W_v = (nn.Linear(WIDTH, KV_HEADS * size, bias=False) for _ in range(2))

    def heads(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return rotated queries, rotated keys and values of all heads, each (B, H, T, d)."""
        size = WIDTH // HEADS
        projected = (layer(x) for layer in (self.W_q, self.W_k, self.W_v))
        q, k, v = (y.unflatten(-1, (-1, size)).transpose(1, 2) for y in projected)
        k, v = (y.repeat_interleave(HEADS // KV_HEADS, dim=1) for y in (k, v))
        return rotary(q), rotary(k), v

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, C) -> (B, T, C)."""
        y = F.scaled_dot_product_attention(*self.heads(x), is_causal=True)
        return self.W_o(y.transpose(1, 2).flatten(2))


class SwiGLU(nn.Module):
    """Gated feed-forward layer (Shazeer 2020)."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.up = (nn.Linear(WIDTH, HIDDEN, bias=False) for _ in range(2))
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """x (..., C) -> (..., C)."""
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    """Attention and the feed-forward layer, each with a norm before it and added to its input."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.attn = RMSNorm(WIDTH), Attention()
        self.norm2, self.ff = RMSNorm(WIDTH), SwiGLU()

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, C) -> (B, T, C)."""
        x = x + self.attn(self.norm1(x))
        return x + self.ff(self.norm2(x))


class Model(nn.Module):
    """A decoder as in Llama (Touvron et al. 2023), with the embedding tied to the output."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = RMSNorm(WIDTH)
        for name, weight in self.named_parameters():
            if weight.ndim == 2:
                is_last = name.endswith(("W_o.weight", "down.weight"))
                nn.init.normal_(weight, std=0.02 / (math.sqrt(2 * LAYERS) if is_last else 1))

    def forward(self, ids: Tensor) -> Tensor:
        """ids (B, T) -> logits (B, T, V)."""
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return self.norm(x) @ self.embed.weight.T


# Measurements


@torch.no_grad()
def bits_per_token(model: Model, ids: Tensor, pieces: int = 64) -> float:
    """Return the mean loss over pieces that are spread evenly over a text."""
    starts = torch.linspace(0, len(ids) - CONTEXT - 1, pieces).long()[:, None]
    places = starts + torch.arange(CONTEXT)
    logits = model(ids[places]).flatten(0, 1)
    return float(F.cross_entropy(logits, ids[places + 1].flatten())) / math.log(2)


@torch.no_grad()
def induction_scores(model: Model, length: int = 64, batch: int = 16) -> Tensor:
    """Return each head's mean weight on the token after the previous occurrence, (layers, heads).

    The sequences are random tokens, repeated once (Olsson et al. 2022, "Program synthesis").
    """
    generator = torch.Generator().manual_seed(1)
    half = torch.randint(FIRST_MERGED, VOCABULARY, (batch, length), generator=generator)
    x, scores = model.embed(torch.cat((half, half), 1)), []
    mask = torch.ones(2 * length, 2 * length).tril().bool()
    for block in model.blocks:
        q, k, _ = block.attn.heads(block.norm1(x))
        weights = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~mask, -torch.inf).softmax(-1)
        scores.append(weights.diagonal(1 - length, dim1=-2, dim2=-1)[..., 1:].mean((0, -1)))
        x = block(x)
    return torch.stack(scores)


# Training


def draw(ids: Tensor, step: int) -> tuple[Tensor, Tensor]:
    """Return the inputs and targets of a training step, both (BATCH, CONTEXT).

    Some sequences repeat random tokens, so that induction heads appear early. Repeated text would
    teach the model to repeat what it writes. Repetitions have different lengths, otherwise a head
    could copy from a fixed distance instead of looking for the previous occurrence. Random tokens
    are targets only when they are repeated.
    """
    generator = torch.Generator().manual_seed(step)
    starts = torch.randint(len(ids) - CONTEXT - 1, (BATCH, 1), generator=generator)
    position = torch.arange(CONTEXT + 1)
    drawn = ids[starts + position]
    periods = torch.randint(SHORTEST, LONGEST + 1, (REPEATED, 1), generator=generator)
    size = (REPEATED, CONTEXT + 1)
    tokens = torch.randint(FIRST_MERGED, VOCABULARY, size, generator=generator)
    drawn[:REPEATED] = tokens.gather(1, position % periods)
    targets = drawn[:, 1:].clone()
    targets[:REPEATED][position[1:] < periods] = IGNORED
    return drawn[:, :-1], targets


def learning_rate(step: int, steps: int) -> float:
    """Rise linearly, stay, and fall linearly to zero over the last steps."""
    falling = (steps - step) / (COOL_DOWN * steps)
    return PEAK_RATE * min((step + 1) / WARM_UP, 1.0, falling)


def split_novels() -> tuple[str, str]:
    """Return the text to train on and the held-out text, the end of each novel."""
    with lzma.open(HERE / "novels.txt.xz", "rt", encoding="utf-8") as file:
        novels = file.read().split("\n\n")
    cuts = [round(len(novel) * (1 - HELD_OUT)) for novel in novels]
    both = list(zip(novels, cuts, strict=True))
    return "\n".join(novel[:cut] for novel, cut in both), "\n".join(n[cut:] for n, cut in both)


def measure(model: Model, texts: tuple[Tensor, Tensor], size: float, log: Path, step: int) -> str:
    """Append the losses (bits per byte) and induction scores to `log`; return a summary.

    size: the mean number of bytes of a token
    """
    losses = [bits_per_token(model, ids) / size for ids in texts]
    scores = induction_scores(model).flatten().tolist()
    with log.open("a", newline="") as file:
        csv.writer(file).writerow([f"{value:.4g}" for value in (step, *losses, *scores)])
    return f"{step:6} {losses[0]:.3f} {losses[1]:.3f} {max(scores):.2f}"


def save(model: Model, optimizer: torch.optim.Optimizer, step: int, path: Path) -> None:
    """Save the state of the training; an interruption leaves the previous file complete."""
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
    torch.save(state, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


def main() -> None:
    """Train the model, or continue its training."""
    options = argparse.ArgumentParser(description="Train the course's language model.")
    options.add_argument("--steps", type=int, default=3000)
    options.add_argument("--out", type=Path, default=HERE)
    chosen = options.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    seen, unseen = split_novels()
    merges = learn_merges(seen, VOCABULARY - FIRST_MERGED)
    torch.manual_seed(0)
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.95), weight_decay=0.1)
    saved, first = chosen.out / "checkpoint.pt", 0
    if saved.exists():
        state = torch.load(saved)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["step"]
    train(model, optimizer, (seen, unseen), merges, first, chosen.steps, chosen.out)


def train(
    model: Model,
    optimizer: torch.optim.Optimizer,
    texts: tuple[str, str],
    merges: list[Pair],
    first: int,
    steps: int,
    folder: Path,
) -> None:
    """Train from step `first` to step `steps`; measure and save every `EVERY` steps."""
    training, held_out = (torch.tensor(encode(text, merges)) for text in texts)
    size = len(texts[1].encode()) / len(held_out)
    print(f"{len(training)} tokens to train on, {len(held_out)} held out, {size:.2f} bytes each")
    began = time.perf_counter()
    for step in range(first, steps + 1):
        if step % EVERY == 0 or step == steps:
            log = folder / "training.csv"
            summary = measure(model, (training, held_out), size, log, step)
            print(f"{summary} {time.perf_counter() - began:6.0f} s", flush=True)
            save(model, optimizer, step, folder / "checkpoint.pt")
        if step == steps:
            break
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, steps)
        inputs, targets = draw(training, step)
        logits = model(inputs).flatten(0, 1)
        loss = F.cross_entropy(logits, targets.flatten(), ignore_index=IGNORED)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


if __name__ == "__main__":
    main()
