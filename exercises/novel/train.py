"""Provided: train your model of week 5 on a novel, with the tokens of your `bpe.py`.

    python train.py                  # the whole novel; about five minutes on one core
    python train.py --share 0.05     # a twentieth of it: watch it overfit
    python train.py --merges 0       # bytes as tokens

The last tenth of the novel is held out: the model is never trained on it, and its loss there is
reported. Losses are in bits per byte, so that runs with different tokens can be compared.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import torch
from torch import nn

NOVEL = Path(__file__).with_name("northanger_abbey.txt")
HELD_OUT = 0.1
MODULES = {"transformer": "week05_transformer", "multihead": "week03_multihead", "bpe": "novel"}


def places(module: str, here: Path) -> list[Path]:
    """Return the paths to try for a module: here, the parent folder, and its own folder."""
    around = (here, here.parent, here.parent.parent)
    return [
        *(folder / f"{module}.py" for folder in around[:2]),
        *(folder / MODULES[module] / f"{module}.py" for folder in around),
    ]


def module_near(name: str, here: Path) -> ModuleType | None:
    """Import one of your modules; return None if it does not exist."""
    path = next((p for p in places(name, here) if p.is_file()), None)
    if path is None:
        return None
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class Texts(NamedTuple):
    """Ids (N,) for training, held-out ids, and the mean number of bytes of a held-out token."""

    training: torch.Tensor
    held_out: torch.Tensor
    bytes_per_token: float


def split(text: str, bpe: ModuleType, learned: list, share: float = 1.0) -> Texts:
    """Split the novel into its first nine tenths, or a share of them, and its last tenth.

    It is split as text, before encoding: nothing may be learned from the held-out part.
    """
    cut = round(len(text) * (1 - HELD_OUT))
    seen, unseen = text[: round(cut * share)], text[cut:]
    training, held_out = (torch.tensor(bpe.encode(part, learned)) for part in (seen, unseen))
    return Texts(training, held_out, len(unseen.encode()) / len(held_out))


def batches(ids: torch.Tensor, size: int, length: int, seed: int = 0) -> Iterator[tuple]:
    """Yield random batches without end: inputs (size, length), and the next token of each."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        starts = torch.randint(len(ids) - length, (size, 1), generator=generator)
        places = starts + torch.arange(length)
        yield ids[places], ids[places + 1]


@torch.no_grad()
def bits_per_token(model: nn.Module, ids: torch.Tensor, length: int, pieces: int = 40) -> float:
    """Return the mean loss on chunks at fixed, evenly spaced positions of a text."""
    mode = model.training
    model.eval()
    device = next(model.parameters()).device
    starts = torch.linspace(0, len(ids) - length - 1, pieces).long().unsqueeze(-1)
    places = starts + torch.arange(length)
    logits = model(ids[places].to(device)).flatten(0, 1)
    loss = nn.functional.cross_entropy(logits, ids[places + 1].flatten().to(device))
    model.train(mode)
    return float(loss) / math.log(2)


def train(
    model: nn.Module, texts: Texts, steps: int, size: int, length: int, lr: float, every: int
) -> Iterator[tuple[int, float, float]]:
    """Train with AdamW, and yield (step, both losses in bits per byte) every `every` steps."""
    device = next(model.parameters()).device
    optimizer = torch.optim.AdamW(model.parameters(), lr, betas=(0.9, 0.95))
    warm = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 50))
    drawn = batches(texts.training, size, length)
    model.train()
    for step in range(steps + 1):
        if step % every == 0:
            losses = (
                bits_per_token(model, ids, length) / texts.bytes_per_token
                for ids in (texts.training, texts.held_out)
            )
            yield step, *losses
        inputs, targets = (x.to(device) for x in next(drawn))
        loss = nn.functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        warm.step()


def assemble(here: Path, **sizes: int) -> nn.Module:
    """Build week 5's MiniTransformer, with week 3's attention if your module exists."""
    model = module_near("transformer", here).MiniTransformer(**sizes)
    own = module_near("multihead", here)
    for block in model.blocks if own else ():
        attention = own.CausalSelfAttention(sizes["d_model"], sizes["n_heads"])
        attention.load_state_dict(block.attn.state_dict())
        block.attn = attention
    return model


def main() -> None:
    options = argparse.ArgumentParser(description="Train your model on a novel.")
    options.add_argument("--merges", type=int, default=512, help="number of BPE merges (512)")
    options.add_argument("--share", type=float, default=1.0, help="share of the text used (1.0)")
    options.add_argument("--steps", type=int, default=1500, help="training steps (1500)")
    options.add_argument("--width", type=int, default=128, help="features per token (128)")
    options.add_argument("--plot", type=Path, help="save a plot of both losses to this file")
    chosen = options.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    bpe, text = module_near("bpe", Path.cwd()), NOVEL.read_text(encoding="utf-8")
    started = time.perf_counter()
    learned = bpe.train_bpe(text[: round(len(text) * (1 - HELD_OUT))], chosen.merges)
    texts = split(text, bpe, learned, chosen.share)
    print(
        f"{len(learned)} merges in {time.perf_counter() - started:.0f} s; "
        f"{len(texts.training)} tokens, {texts.bytes_per_token:.2f} bytes each"
    )
    torch.manual_seed(0)
    sizes = {"d_model": chosen.width, "n_heads": 4, "n_layers": 4, "max_len": 64}
    model = assemble(Path.cwd(), vocab_size=256 + len(learned), **sizes).to(device)
    print("  step   bits per byte: trained on   held out")
    told = []
    for step, seen, unseen in train(model, texts, chosen.steps, 32, 64, 1e-3, 100):
        print(f"{step:6} {seen:26.3f} {unseen:10.3f}   {time.perf_counter() - started:5.0f} s")
        told.append((step, seen, unseen))
    if chosen.plot:
        draw(told, chosen.plot)
    prompt = torch.tensor([bpe.encode("Catherine", learned)], device=device)
    written = sys.modules["transformer"].generate(model, prompt, 120, temperature=0.8)
    print(bpe.decode(written[0].tolist(), learned))


def draw(told: list[tuple[int, float, float]], file: Path) -> None:
    """Plot both losses over the steps."""
    from matplotlib.figure import Figure

    steps, seen, unseen = zip(*told, strict=True)
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot(steps, seen, "k--", label="trained on")
    axes.plot(steps, unseen, "k-", label="held out")
    axes.set(xlabel="step", ylabel="bits per byte")
    axes.legend()
    figure.savefig(file)


if __name__ == "__main__":
    main()
