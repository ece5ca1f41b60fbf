"""The stages of `autograder check gpt2`: your attention in the model of 2019."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gpt2 as given
import torch
from torch.nn import functional as F

from autograder.student.checks.stages import StageFailed, Stage, run_stage

TITLE = "GPT-2 around your weeks 2 and 3"
DONE = "Your attention runs GPT-2. README.md shows how to generate text with it."
WEEKS = {"masking": 2, "multihead": 3}
SIZES = {"vocab_size": 50, "max_len": 16, "width": 24, "n_layers": 2, "n_heads": 4}
# Ids of GPT-2's tokenizer: "The capital of France is Paris. The capital of Germany is Berlin."
KNOWN = (464, 3139, 286, 4881, 318, 6342, 13, 383, 3139, 286, 4486, 318, 11307, 13)
SURPRISE = 5.0  # nats per token; a uniform prediction has 10.8


def stages(here: Path) -> Iterator[Stage]:
    """Yield the stages in order."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    yield from RealModel(here).stages()


class RealModel:
    """The stages, each a method that raises StageFailed if its claim is false."""

    def __init__(self, here: Path) -> None:
        self.here = here
        self.weeks: dict[str, Any] = {}
        self.model: Any = None

    def stages(self) -> Iterator[Stage]:
        claims = [
            ("your modules of weeks 2 and 3 are here", self.found),
            ("a small GPT-2 with them loads a state dict with GPT-2's names", self.loads),
            ("it computes what GPT-2 computes", self.computes),
            ("no token sees a later one", self.causal),
        ]
        for claim, check in claims:
            yield run_stage(claim, check, WEEKS)
        claim = "with GPT-2's weights it knows two capitals (optional)"
        why = self.cannot_speak()
        if why:
            yield Stage(claim, False, why, skipped=True)
        else:
            yield run_stage(claim, self.speaks, WEEKS)

    def found(self) -> None:
        for name in WEEKS:
            if not any(p.is_file() for p in given.places(name, self.here)):
                raise StageFailed(
                    f"Week {WEEKS[name]} is missing: put {name}.py here, or the folder "
                    f"{given.MODULES[name]} next to this one."
                )
        self.weeks = given.weeks_near(self.here, WEEKS)

    def loads(self) -> None:
        self.state = drawn_state()
        self.model = given.GPT2(self.weeks, **SIZES)
        own, theirs = set(self.model.state_dict()), set(given.converted(self.state))
        if own != theirs:
            odd = sorted(own ^ theirs)[0]
            raise StageFailed(
                f"MultiHeadAttention (week 3) has different parameter names: {odd}. It needs "
                "W_q, W_k, W_v and W_o, with biases."
            )
        self.model.load_state_dict(given.converted(self.state))
        self.model.eval()

    def computes(self) -> None:
        ids = torch.randint(0, SIZES["vocab_size"], (2, 12))
        with torch.no_grad():
            got, expected = self.model(ids), plain_logits(self.state, ids)
        if got.shape != expected.shape:
            raise StageFailed(f"The logits have shape {tuple(got.shape)}, not {tuple(expected.shape)}.")
        if not torch.allclose(got, expected, rtol=1e-4, atol=1e-4):
            first = int(((got - expected).abs() > 1e-3).any(-1).any(0).nonzero()[0])
            # token 0 sees a single key, whose weight is 1 whatever its score
            clue = "so its weight is 1" if first == 0 else "and it is right: check the weights"
            raise StageFailed(
                f"The logits differ from GPT-2's from token {first} on. Token 0 sees only itself, "
                f"{clue}. The mistake is in MultiHeadAttention (week 3) or causal_mask (week 2): "
                "`autograder check` in their folders gives details."
            )

    def causal(self) -> None:
        ids = torch.randint(0, SIZES["vocab_size"], (1, 12))
        other = ids.clone()
        other[:, 7:] = (other[:, 7:] + 1) % SIZES["vocab_size"]
        with torch.no_grad():
            same = torch.allclose(self.model(ids)[:, :7], self.model(other)[:, :7], atol=1e-5)
        if not same:
            raise StageFailed("Changing token 7 changes earlier outputs. Check causal_mask (week 2).")

    def cannot_speak(self) -> str:
        """Return why the last stage is skipped, or "" if it is not."""
        if given.model_near(self.here) is None:
            return "GPT-2's weights are not on this machine: README.md says where to put them."
        try:
            import safetensors.torch  # noqa: F401  # only to see if it is installed
        except ImportError:
            return "The weights were found. To read them: pip install safetensors"
        return ""

    def speaks(self) -> None:
        model = given.load(self.weeks, given.model_near(self.here))
        if model.wte.num_embeddings < 50257:
            raise StageFailed("The model in this folder does not have GPT-2's vocabulary.")
        surprise = given.nats_per_token(model, torch.tensor([KNOWN]))
        if surprise > SURPRISE:
            raise StageFailed(
                f"On a known sentence the loss is {surprise:.1f} nats per token, GPT-2's is below 5. "
                "Check MultiHeadAttention (week 3) with 12 heads."
            )


def drawn_state() -> dict[str, torch.Tensor]:
    """Return a state dict with the names and layouts of GPT-2's files and random values."""
    width, state = SIZES["width"], {}
    shapes = {"wte.weight": (SIZES["vocab_size"], width), "wpe.weight": (SIZES["max_len"], width)}
    for layer in range(SIZES["n_layers"]):
        for name, (rows, columns) in {
            "attn.c_attn": (width, 3 * width),
            "attn.c_proj": (width, width),
            "mlp.c_fc": (width, 4 * width),
            "mlp.c_proj": (4 * width, width),
        }.items():
            shapes[f"h.{layer}.{name}.weight"] = (rows, columns)
            shapes[f"h.{layer}.{name}.bias"] = (columns,)
        for norm in ("ln_1", "ln_2"):
            shapes |= {f"h.{layer}.{norm}.{part}": (width,) for part in ("weight", "bias")}
    shapes |= {f"ln_f.{part}": (width,) for part in ("weight", "bias")}
    for name, wanted in shapes.items():
        state[name] = 0.3 * torch.randn(wanted) + ("ln_" in name and name.endswith("weight"))
    return state


def plain_logits(state: dict[str, torch.Tensor], ids: torch.Tensor) -> torch.Tensor:
    """Compute GPT-2's logits in plain torch, with the names of its files."""
    heads, width = SIZES["n_heads"], SIZES["width"]

    def linear(x: torch.Tensor, name: str) -> torch.Tensor:
        return x @ state[f"{name}.weight"] + state[f"{name}.bias"]

    def norm(x: torch.Tensor, name: str) -> torch.Tensor:
        return F.layer_norm(x, (width,), state[f"{name}.weight"], state[f"{name}.bias"])

    batch, tokens = ids.shape
    x = state["wte.weight"][ids] + state["wpe.weight"][:tokens]
    for layer in range(SIZES["n_layers"]):
        own = f"h.{layer}"
        parts = linear(norm(x, f"{own}.ln_1"), f"{own}.attn.c_attn").chunk(3, dim=-1)
        q, k, v = (p.view(batch, tokens, heads, -1).transpose(1, 2) for p in parts)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + linear(mixed.transpose(1, 2).flatten(2), f"{own}.attn.c_proj")
        inner = F.gelu(linear(norm(x, f"{own}.ln_2"), f"{own}.mlp.c_fc"), approximate="tanh")
        x = x + linear(inner, f"{own}.mlp.c_proj")
    return norm(x, "ln_f") @ state["wte.weight"].T
