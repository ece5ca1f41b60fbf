"""Write every file that depends on the weights of the course's language model.

    python export.py checkpoint.pt   # what train.py has saved; an austen.npz works as well

Files written next to this one:

- `austen.npz`: the weights in float16, named as in the state dict, the number of query heads
  (`n_heads`) and the merges of the tokenizer (`merges`);
- `austen.pt2`: the model as a program of `torch.export`, which runs without its source;
- `heads.npz`: all heads on the sentences `SENTENCES`, which end where a name would follow;
- `layer.npz`: the queries, keys, values and outputs of one layer on a held-out text;
- `text.npz`: the held-out text as tokens, and the bytes of each token;
- `held_out.txt`: the text that the model was not trained on.

The hidden tests of some weeks get the heads on a different sentence as `trained.npz`. Figures of
lessons are drawn again because they depend on the files of their week.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
import train
from torch import Tensor, nn

from autograder.authoring.lesson.figures import draw_figures, stale_figures
from autograder.model.course import load

ROOT = Path(__file__).resolve().parents[2]
SENTENCES = (  # of equally many tokens
    "Mr. Darcy looked at Jane, and Jane looked at Mr.",
    "Mrs. Weston talked of Jane, and Jane talked of Mrs.",
)
HIDDEN_SENTENCE = "Miss Tilney wrote to Catherine, and Catherine wrote to Miss"
TESTED = ("week01_softmax", "week02_masking", "week03_multihead")
TESTED += ("week08_serving", "week09_kernels")
LAYER, LENGTH = 2, 64  # the layer in layer.npz, counted from 0, and its number of tokens
HELD_OUT_TOKENS = 16384
SIZE = train.WIDTH // train.HEADS
GROUP = train.HEADS // train.KV_HEADS
Arrays = dict[str, np.ndarray]


class Program(nn.Module):
    """The model with a mask and a factor per head, written so that its graph is short.

    Weights are float16 and used in float32. Keys and values have a copy per query head.
    """

    def __init__(self, model: train.Model) -> None:
        super().__init__()
        angle = torch.arange(train.CONTEXT)[:, None] * 10000.0 ** (-torch.arange(0, SIZE, 2) / SIZE)
        swap = torch.block_diag(*[torch.tensor([[0.0, 1.0], [-1.0, 0.0]])] * (SIZE // 2))
        kept = {"cos": angle.cos().repeat_interleave(2, -1), "swap": swap}
        kept |= {"sin": angle.sin().repeat_interleave(2, -1)}
        kept |= {"embed": model.embed.weight.half(), "norm": model.norm.weight}
        for number, block in enumerate(model.blocks):
            heads = block.attn
            shared = [
                layer.weight.unflatten(0, (-1, SIZE)).repeat_interleave(GROUP, 0).flatten(0, 1)
                for layer in (heads.W_k, heads.W_v)
            ]
            kept |= {f"norm1_{number}": block.norm1.weight, f"norm2_{number}": block.norm2.weight}
            kept |= {f"qkv_{number}": torch.cat((heads.W_q.weight, *shared)).half()}
            kept |= {f"mix_{number}": heads.W_o.weight.half()}
            kept |= {f"up_{number}": torch.cat((block.ff.gate.weight, block.ff.up.weight)).half()}
            kept |= {f"down_{number}": block.ff.down.weight.half()}
        for name, value in kept.items():
            self.register_buffer(name, value.detach().clone())

    def forward(self, ids: Tensor, mask: Tensor, heads: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits (B, T, V) and all attention weights (layers, B, H, T, T).

        ids: (B, T), mask: bool (T, T), True = may attend, heads: a factor per head (layers, H)
        """
        x, length, seen = self.embed[ids].float(), ids.shape[1], []
        for number in range(train.LAYERS):
            names = ("norm1", "norm2", "qkv", "mix", "up", "down")
            norm1, norm2, qkv, mix, up, down = (
                getattr(self, f"{name}_{number}").float() for name in names
            )
            y = F.rms_norm(x, (train.WIDTH,), norm1, 1e-5) @ qkv.mT
            q, k, v = y.unflatten(-1, (3, train.HEADS, SIZE)).permute(2, 0, 3, 1, 4)
            q, k = (z * self.cos[:length] + z @ self.swap * self.sin[:length] for z in (q, k))
            scores = (q @ k.mT / math.sqrt(SIZE)).masked_fill(~mask, -torch.inf)
            seen.append(scores.softmax(-1))
            y = seen[-1] @ v * heads[number][:, None, None]
            x = x + y.transpose(1, 2).flatten(2) @ mix.mT
            gate, y = (F.rms_norm(x, (train.WIDTH,), norm2, 1e-5) @ up.mT).chunk(2, -1)
            x = x + F.silu(gate) * y @ down.mT
        logits = F.rms_norm(x, (train.WIDTH,), self.norm, 1e-5) @ self.embed.float().mT
        return logits, torch.stack(seen)


def write_weights(model: train.Model, merges: list[train.Pair], folder: Path) -> None:
    """Write the weights in float16 and the tokenizer."""
    weights = {name: weight.half().numpy() for name, weight in model.state_dict().items()}
    tokens = {"merges": np.array(merges, np.uint16), "n_heads": np.array(train.HEADS)}
    np.savez_compressed(folder / "austen.npz", **tokens, **weights)


def write_program(model: train.Model, path: Path) -> None:
    """Export the model for B up to 64 and T up to the context, without traces of its source."""
    batch, length = torch.export.Dim("B", max=64), torch.export.Dim("T", max=train.CONTEXT)
    shapes = ({0: batch, 1: length}, {0: length, 1: length}, None)
    ids, mask = torch.zeros(2, 40, dtype=torch.long), torch.ones(40, 40, dtype=torch.bool)
    given = (ids, mask, torch.ones(train.LAYERS, train.HEADS))
    program = torch.export.export(Program(model), given, dynamic_shapes=shapes)
    for node in program.graph.nodes:
        node.meta = {"val": node.meta["val"]} if "val" in node.meta else {}
    torch.export.save(program, path)


@torch.no_grad()
def record(model: train.Model, ids: Tensor) -> list[tuple[Arrays, Tensor, Tensor]]:
    """Return, per layer, the arrays of its heads, the attention's output and its W_o.

    ids: (B, T). The arrays `q`, `k`, `v` and `output` are (B, H, T, d): rotated queries and keys,
    values and what each head returns, before W_o. Heads that share keys and values have copies.
    """
    x, layers = model.embed(ids), []
    for block in model.blocks:
        normed = block.norm1(x)
        q, k, v = block.attn.heads(normed)
        output = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        arrays = {"q": q, "k": k, "v": v, "output": output}
        named = {name: value.numpy() for name, value in arrays.items()}
        layers.append((named, block.attn(normed), block.attn.W_o.weight))
        x = block(x)
    return layers


def pieces_of(merges: list[train.Pair]) -> list[bytes]:
    """Return the bytes of each token."""
    pieces = [bytes([byte]) for byte in range(train.FIRST_MERGED)]
    for first, second in merges:
        pieces.append(pieces[first] + pieces[second])
    return pieces


@torch.no_grad()
def write_heads(model: train.Model, merges: list[train.Pair], folder: Path) -> None:
    """Write the heads on `SENTENCES`, the first layer's W_o and output, and likely next tokens."""
    ids = torch.tensor([train.encode(sentence, merges) for sentence in SENTENCES])
    pieces = np.array([piece.decode(errors="replace") for piece in pieces_of(merges)])
    layers = record(model, ids)
    arrays = {
        name: np.stack([arrays[name] for arrays, _, _ in layers], axis=1)
        for name in ("q", "k", "v", "output")
    }
    _, mixed, weight = layers[0]
    arrays |= {"W_o": weight.numpy(), "layer_output": mixed.numpy(), "tokens": pieces[ids]}
    arrays |= {"next_tokens": pieces[model(ids)[:, -1].topk(3).indices]}
    np.savez_compressed(folder / "heads.npz", **arrays)


def without_copies(arrays: Arrays) -> Arrays:
    """Return one copy of keys and values that several heads share."""
    return arrays | {name: arrays[name][:, ::GROUP] for name in ("k", "v")}


def write_layer(model: train.Model, held_out: Tensor, pieces: list[bytes], folder: Path) -> None:
    """Write one layer's q, k, v and output on the beginning of the held-out text."""
    ids = held_out[None, :LENGTH]
    arrays = without_copies(record(model, ids)[LAYER][0])
    tokens = [pieces[token].decode(errors="replace") for token in ids[0].tolist()]
    np.savez_compressed(folder / "layer.npz", tokens=np.array(tokens), **arrays)


def write_hidden(model: train.Model, merges: list[train.Pair], *folders: Path) -> None:
    """Write q and output (layers, H, T, d), k and v (layers, H_kv, T, d) for the hidden tests."""
    layers = record(model, torch.tensor([train.encode(HIDDEN_SENTENCE, merges)]))
    rows = [without_copies(arrays) for arrays, _, _ in layers]
    arrays = {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}
    for folder in folders:
        np.savez_compressed(folder / "trained.npz", **arrays)


def read_weights(path: Path) -> dict[str, Tensor]:
    """Return the weights of a checkpoint or of an `austen.npz`."""
    if path.suffix != ".npz":
        return torch.load(path)["model"]
    with np.load(path) as file:
        return {name: torch.tensor(file[name]) for name in file.files if "." in name}


def main() -> None:
    """Write the files of a checkpoint, and draw stale figures again."""
    options = argparse.ArgumentParser(description="Write the files that depend on the weights.")
    options.add_argument("checkpoint", type=Path)
    state = read_weights(options.parse_args().checkpoint)
    seen, unseen = train.split_novels()
    merges = train.learn_merges(seen, train.VOCABULARY - train.FIRST_MERGED)
    model, folder = train.Model().eval(), train.HERE
    model.load_state_dict({name: weight.half() for name, weight in state.items()})
    write_weights(model, merges, folder)
    (folder / "held_out.txt").write_text(unseen, encoding="utf-8")
    whole_sentences = unseen[unseen.index(". ") + 2 :]
    pieces, held_out = pieces_of(merges), torch.tensor(train.encode(whole_sentences, merges))
    text = {"held_out": held_out[:HELD_OUT_TOKENS].numpy().astype(np.uint16)}
    np.savez_compressed(folder / "text.npz", pieces=np.array(pieces), **text)
    write_program(model, folder / "austen.pt2")
    write_heads(model, merges, folder)
    write_layer(model, held_out, pieces, folder)
    write_hidden(model, merges, *(ROOT / "autograder" / "graders" / week for week in TESTED))
    course = load(ROOT)
    for week in course.weeks:
        if any(stale_figures(course, week)):
            draw_figures(course, week)


if __name__ == "__main__":
    main()
