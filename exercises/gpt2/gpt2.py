"""Provided: GPT-2 with your attention of week 3 and your mask of week 2.

    model, tokenizer = load(weeks_near(), Path("model"))

There is nothing to write here. Read it: it is week 5's model with different names, learned
positions, and a head that is tied to the embedding (Radford et al., 2019, section 2.3).

From a terminal, with the files of a GPT-2 in the folder `model`:

    python gpt2.py model "In the beginning"
"""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import nn

MODULES = {
    "masking": "week02_masking",
    "multihead": "week03_multihead",
    "transformer": "week05_transformer",  # for its `generate`
}
CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"


def places(module: str, here: Path) -> list[Path]:
    """Return the paths to try for a module: here, the parent folder, and its week's folder."""
    around = (here, here.parent, here.parent.parent)
    return [
        *(folder / f"{module}.py" for folder in around[:2]),
        *(folder / MODULES[module] / f"{module}.py" for folder in around),
    ]


def weeks_near(
    here: Path | None = None, names: Iterable[str] = tuple(MODULES)
) -> dict[str, ModuleType]:
    """Import those of your modules that exist, each once, and return them by name."""
    here = (here or Path.cwd()).resolve()
    found = {}
    for name in names:
        path = next((p for p in places(name, here) if p.is_file()), None)
        if path is not None:
            spec = importlib.util.spec_from_file_location(name, path)
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            spec.loader.exec_module(module)
            found[name] = module
    return found


class Block(nn.Module):
    """x (B, T, C) -> (B, T, C): your attention, then two linear layers, each added to x."""

    def __init__(self, attention: nn.Module, width: int, eps: float) -> None:
        super().__init__()
        self.ln_1, self.attn, self.ln_2 = nn.LayerNorm(width, eps), attention, nn.LayerNorm(width, eps)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width)
        )

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = x + self.attn(self.ln_1(x), mask=mask)[0]
        return x + self.mlp(self.ln_2(x))


class GPT2(nn.Module):
    """ids (B, T) -> logits (B, T, V). `max_len`: the largest T, which week 5's `generate` reads."""

    def __init__(
        self,
        weeks: Mapping[str, Any],
        vocab_size: int = 50257,
        max_len: int = 1024,
        width: int = 768,
        n_layers: int = 12,
        n_heads: int = 12,
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        self.max_len, self._mask = max_len, weeks["masking"].causal_mask
        attention = weeks["multihead"].MultiHeadAttention
        self.wte, self.wpe = nn.Embedding(vocab_size, width), nn.Embedding(max_len, width)
        self.h = nn.ModuleList(
            Block(attention(width, n_heads), width, eps) for _ in range(n_layers)
        )
        self.ln_f = nn.LayerNorm(width, eps)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        tokens = ids.shape[1]
        if tokens > self.max_len:
            raise ValueError(f"{tokens} tokens exceed the {self.max_len} positions")
        mask = self._mask(tokens, device=ids.device)
        x = self.wte(ids) + self.wpe(torch.arange(tokens, device=ids.device))
        for block in self.h:
            x = block(x, mask)
        return self.ln_f(x) @ self.wte.weight.T


def converted(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Convert GPT-2's state dict to the names and layouts of this module.

    The file differs in three ways. The matrices of linear layers are transposed; those for queries,
    keys and values are one matrix; and it may contain masks, and the head as a copy of the
    embedding.
    """
    own: dict[str, torch.Tensor] = {}
    for name, value in state.items():
        name = name.removeprefix("transformer.")
        part = name.split(".")
        if name == "lm_head.weight" or name.endswith((".attn.bias", ".attn.masked_bias")):
            continue
        if part[0] != "h" or part[2] in ("ln_1", "ln_2"):
            own[name] = value
            continue
        if value.dim() == 2:
            value = value.T.contiguous()  # (in, out) -> (out, in)
        block, kind, layer, what = ".".join(part[:2]), *part[2:]
        if layer == "c_attn":
            for letter, third in zip("qkv", value.chunk(3), strict=True):
                own[f"{block}.attn.W_{letter}.{what}"] = third.contiguous()
        elif kind == "attn":
            own[f"{block}.attn.W_o.{what}"] = value
        else:
            own[f"{block}.mlp.{0 if layer == 'c_fc' else 2}.{what}"] = value
    return own


def sizes_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `GPT2` from a model's config.json."""
    names = {"vocab_size": "vocab_size", "max_len": "n_positions", "width": "n_embd"}
    names |= {"n_layers": "n_layer", "n_heads": "n_head", "eps": "layer_norm_epsilon"}
    return {own: config[theirs] for own, theirs in names.items() if theirs in config}


def load(weeks: Mapping[str, Any], folder: Path) -> GPT2:
    """Load the GPT-2 in a folder, in evaluation mode. Needs `pip install safetensors`."""
    from safetensors.torch import load_file

    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    model = GPT2(weeks, **sizes_of(config))
    model.load_state_dict(converted(load_file(folder / WEIGHTS)), strict=True)
    return model.eval()


def model_near(here: Path | None = None) -> Path | None:
    """Return a folder with a GPT-2: `model` here, or in Hugging Face's cache; None if not found."""
    here = (here or Path.cwd()).resolve()
    hub = Path.home() / ".cache" / "huggingface" / "hub"
    kept = sorted(hub.glob("models--*gpt2*/snapshots/*"))
    candidates = (here / "model", here / "gpt2" / "model", here.parent / "gpt2" / "model", *kept)
    return next((f for f in candidates if (f / WEIGHTS).exists() and (f / CONFIG).exists()), None)


def nats_per_token(model: GPT2, ids: torch.Tensor) -> float:
    """Return the mean loss on a text, ids (1, T); a uniform prediction has log V."""
    with torch.no_grad():
        logits = model(ids[:, :-1])
    return float(nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()))


def main() -> None:
    folder, prompt = Path(sys.argv[1]), " ".join(sys.argv[2:]) or "The meaning of attention is"
    from tokenizers import Tokenizer  # pip install tokenizers

    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    weeks = weeks_near()
    model = load(weeks, folder)
    ids = torch.tensor([tokenizer.encode(prompt).ids])
    surprise = nats_per_token(model, ids) if ids.shape[1] > 1 else math.nan
    print(f"your prompt: {surprise:.2f} nats per token")
    written = weeks["transformer"].generate(model, ids, 60, temperature=0.8)
    print(tokenizer.decode(written[0].tolist()))


if __name__ == "__main__":
    main()
