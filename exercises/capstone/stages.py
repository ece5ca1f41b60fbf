"""What `autograder check capstone` claims, stage by stage: your modules as one model."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import capstone as given
import msgspec
import torch

from autograder.student.checks.stages import StageFailed, Stage, run_stage

TITLE = "Capstone · your weeks 2 to 5 as one model"
DONE = "It is one model, and all of it is yours. README.md says what to try with it."
WEEKS = {"masking": 2, "multihead": 3, "lsh": 4, "transformer": 5, "serving": 8}
NEEDED = ("masking", "multihead", "transformer")
SIZES = {"vocab_size": 9, "d_model": 32, "n_heads": 4, "n_layers": 2, "max_len": 16}
TOKENS = 12


def stages(here: Path) -> Iterator[Stage]:
    """The stages, in order."""
    torch.manual_seed(0)
    torch.set_num_threads(1)  # the model is small: threads would wait for each other
    yield from Capstone(here).stages()


class Capstone:
    """The stages: each is a method that raises an error if its claim is false."""

    def __init__(self, here: Path) -> None:
        self.here = here
        self.weeks: dict[str, Any] = {}
        self.model: Any = None

    def stages(self) -> Iterator[Stage]:
        claims = [
            ("your modules of weeks 2, 3 and 5 are here", self.found),
            ("week 3's attention sees what week 2's causal mask allows", self.masks_agree),
            ("week 5's model computes the same with week 3's attention", self.parity),
            ("no token of the whole model sees a later one", self.causal),
            ("it learns to copy four letters, new ones too", self.copies),
            ("it generates: `generate` copies the letters", self.writes),
        ]
        for claim, check in claims:
            yield run_stage(claim, check, WEEKS)
        extras = [
            ("serving", "token by token, with week 8's caches, it generates the same", self.served),
            ("lsh", "with week 4's LSH attention, no token sees a later one", self.lsh_causal),
        ]
        for module, claim, check in extras:
            yield self.optional(module, f"{claim} (optional)", check)

    def optional(self, module: str, claim: str, check: Callable[[], None]) -> Stage:
        if not any(p.is_file() for p in given.places(module, self.here)):
            why = f"Skipped: there is no {module}.py next to the other modules."
            return Stage(claim, False, why, skipped=True)
        stage = run_stage(claim, check, WEEKS)
        return msgspec.structs.replace(stage, skipped=stage.unwritten)

    def found(self) -> None:
        for name in NEEDED:
            if not any(p.is_file() for p in given.places(name, self.here)):
                raise StageFailed(
                    f"Week {WEEKS[name]} is missing: put {name}.py here, or the folder "
                    f"{given.MODULES[name]} beside this one."
                )
        self.weeks = given.weeks_near(self.here, NEEDED)

    def masks_agree(self) -> None:
        own = self.weeks["multihead"].CausalSelfAttention(8, 1)
        x = torch.randn(2, 5, 8)
        with torch.no_grad():
            _, many = own(x, return_weights=True)
            q, k, v = own.qkv(x).chunk(3, dim=-1)
            mask = self.weeks["masking"].causal_mask(5)
            _, one = self.weeks["masking"].scaled_dot_product_attention(q, k, v, mask)
        if not _close(many.squeeze(1), one):
            raise StageFailed(
                "With one head, the weights of week 3's CausalSelfAttention and of week 2's "
                "scaled_dot_product_attention differ. Check weeks 2 and 3 separately."
            )

    def parity(self) -> None:
        torch.manual_seed(1)
        plain = self.weeks["transformer"].MiniTransformer(**SIZES)
        torch.manual_seed(1)
        self.model = given.assemble(self.weeks, **SIZES)
        self.model.load_state_dict(plain.state_dict())
        ids = torch.randint(0, SIZES["vocab_size"], (3, 10))
        with torch.no_grad():
            expected, got = plain.eval()(ids), self.model.eval()(ids)
        if got.shape != (3, 10, SIZES["vocab_size"]):
            raise StageFailed(
                f"The logits have shape {tuple(got.shape)}; (3, 10, {SIZES['vocab_size']}) "
                "was expected: MiniTransformer, week 5."
            )
        if not _close(expected, got):
            raise StageFailed(
                "With the same parameters the logits differ: with several heads, "
                "CausalSelfAttention (week 3) computes a different result."
            )

    def causal(self) -> None:
        self._never_ahead(self.model, "TransformerBlock and MiniTransformer (week 5)")

    def served(self) -> None:
        self.weeks |= given.weeks_near(self.here, ("serving",))
        prompt = given.copy_task(50, seed=10)[0][:, :5]
        whole = self.weeks["transformer"].generate(self.model, prompt, 4, temperature=0)
        served = given.Served(self.weeks, self.model, SIZES["n_heads"]).eval()
        with torch.no_grad():
            at_once = served(whole, served.new_caches(50, 9))
            expected = self.model.eval()(whole)
        if not _close(at_once, expected):
            raise StageFailed(
                "With the same weights the logits already differ for a whole sequence at once: "
                "look at GroupedQueryAttention or KVCache (week 8)."
            )
        if not torch.equal(self.weeks["serving"].generate_cached(served, prompt, 4), whole):
            raise StageFailed(
                "Token by token it generates a different text: look at generate_cached, or at the "
                "positions of the queries in GroupedQueryAttention (week 8)."
            )

    def lsh_causal(self) -> None:
        self.weeks |= given.weeks_near(self.here, ("lsh",))
        model = given.assemble(self.weeks, **SIZES)
        # One chunk for all: with several, later tokens move the borders between earlier ones.
        given.with_lsh(self.weeks, model, num_heads=4, bucket_size=TOKENS, n_hashes=2)
        self._never_ahead(model, "LSHAttention (week 4)")

    def copies(self) -> None:
        inputs, targets = given.copy_task(192)
        losses = self.weeks["transformer"].fit(self.model, inputs, targets, 100)
        if not losses or not losses[-1] < 0.05 * losses[0]:
            shown = f"from {losses[0]:.2f} to {losses[-1]:.2f}" if losses else "by no step"
            raise StageFailed(f"In 100 steps the loss went {shown}. Look at fit (week 5).")
        new, answers = given.copy_task(200, seed=9)
        with torch.no_grad():
            right = (self.model.eval()(new).argmax(-1) == answers).float().mean().item()
        if right < 0.9:
            raise StageFailed(
                f"It copies {right:.0%} of new letters correctly, where 90 % are easy: it has "
                "memorised its training data. Look at the positions (week 5)."
            )

    def writes(self) -> None:
        new, answers = given.copy_task(50, seed=10)
        ids = self.weeks["transformer"].generate(self.model, new[:, :5], 4, temperature=0)
        if ids.shape != (50, 9):
            raise StageFailed(f"generate (week 5) gave shape {tuple(ids.shape)}, not (50, 9).")
        right = (ids[:, 5:] == answers[:, 4:]).float().mean().item()
        if right < 0.8:
            raise StageFailed(
                f"The model copies letters, but only {right:.0%} of those that generate (week 5) "
                "returned are correct. Is each new token chosen from the last logits?"
            )

    def _never_ahead(self, model: Any, who: str) -> None:
        model.eval()
        one = torch.randint(0, SIZES["vocab_size"], (2, TOKENS))
        for place in (4, 9):
            other = one.clone()
            other[:, place:] = (other[:, place:] + 1) % SIZES["vocab_size"]
            answers = []
            for ids in (one, other):
                torch.manual_seed(2)  # LSH draws its rotations
                with torch.no_grad():
                    answers.append(model(ids)[:, :place])
            if not _close(*answers):
                raise StageFailed(f"A change of token {place} changes outputs before it: {who}.")


def _close(one: Any, other: Any) -> bool:
    return one.shape == other.shape and torch.allclose(one, other, rtol=1e-3, atol=1e-4)
