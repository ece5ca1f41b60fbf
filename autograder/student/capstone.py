"""`check capstone`: a student's own modules of weeks 2 to 5, as one model, stage by stage.

The student's side (`run_capstone`) starts a Python of its own, which runs this file: their code may
hang or leave. Each stage builds on those before it, so the first that fails is the last that runs.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from ..model.errors import KitError

FILE = "capstone.py"
SIZES = {"vocab_size": 9, "d_model": 32, "n_heads": 4, "n_layers": 2, "max_len": 16}
_WEEKS = {"masking": 2, "multihead": 3, "lsh": 4, "transformer": 5}
_NEEDED = ("masking", "multihead", "transformer")
_TOKENS = 12
_SECONDS = 180.0


class Stage(msgspec.Struct, frozen=True):
    """How one stage went; `why` is one line, empty where it passed."""

    claim: str
    passed: bool
    why: str = ""
    skipped: bool = False


class _NotSo(Exception):
    """A stage's claim does not hold; the message is for the student."""


def run_capstone(folder: Path | None = None, seconds: float = _SECONDS) -> bool:
    """Run the stages and show each as it ends; whether all passed."""
    from .commands import console
    from .text import writes_unicode

    here = (folder or Path.cwd()).resolve()
    given = _given(here)
    out = console()
    marks = ("✓", "✗", "-") if writes_unicode(out) else ("+", "x", "-")
    out.print("Capstone · your weeks 2 to 5 as one model", style="bold")
    passed = True
    for stage in _run(here, given, seconds):
        mark = marks[2] if stage.skipped else marks[0] if stage.passed else marks[1]
        out.print(f"  {mark} {stage.claim}", markup=False, soft_wrap=True)
        if stage.why:
            out.print(f"      {stage.why}", markup=False, soft_wrap=True)
        passed = passed and (stage.passed or stage.skipped)
    out.print()
    if passed:
        out.print("It is one model, and all of it is yours. README.md says what to try with it.")
    return passed


def _given(here: Path) -> Path:
    """The script that assembles the model, from the folder that was handed out."""
    for place in (here, here / "capstone", here.parent / "capstone"):
        if (place / FILE).is_file():
            return place / FILE
    raise KitError(
        f"there is no {FILE} here, nor in a folder `capstone` beside your weeks: "
        "it comes with week 5, so run this in week 5's folder"
    )


def _run(here: Path, given: Path, seconds: float) -> Iterator[Stage]:
    command = [sys.executable, "-P", "-m", "autograder.student.capstone", str(here), str(given)]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"MPLBACKEND": "Agg"},
    )
    late = threading.Timer(seconds, process.kill)
    late.start()
    finished = False
    assert process.stdout is not None
    try:
        for line in process.stdout:
            try:
                stage = msgspec.json.decode(line, type=Stage)
            except msgspec.MsgspecError:
                continue
            finished = not stage.claim or not (stage.passed or stage.skipped)
            if stage.claim:
                yield stage
    finally:
        stopped = not late.is_alive()
        late.cancel()
        process.kill()
        process.wait()
        process.stdout.close()
    if not finished:
        why = "It took too long and was stopped." if stopped else "Python was left in the middle."
        yield Stage("the next stage", False, f"{why} Run the weeks' own checks first.")


# The checking Python


def main(here: Path, given: Path) -> None:
    events = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def tell(stage: Stage) -> None:
        events.write(msgspec.json.encode(stage) + b"\n")
        events.flush()

    os.chdir(here)
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(1)  # the model is small: threads would wait for each other
    run = _Capstone(_loaded(given), here)
    for stage in run.stages():
        tell(stage)
        if not (stage.passed or stage.skipped):
            os._exit(0)
    tell(Stage("", True))
    os._exit(0)


def _loaded(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("capstone", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["capstone"] = module
    spec.loader.exec_module(module)
    return module


class _Capstone:
    """The stages, each a method that raises where its claim does not hold."""

    def __init__(self, given: Any, here: Path) -> None:
        self.given, self.here = given, here
        self.weeks: dict[str, Any] = {}
        self.model: Any = None

    def stages(self) -> Iterator[Stage]:
        claims: list[tuple[str, Callable[[], None]]] = [
            ("your modules of weeks 2, 3 and 5 are here", self.found),
            ("week 3's attention sees what week 2's causal mask allows", self.masks_agree),
            ("week 5's model computes the same with week 3's attention", self.parity),
            ("no token of the whole model sees a later one", self.causal),
            ("it learns to copy four letters, new ones too", self.copies),
            ("it writes: generate gives the letters back", self.writes),
        ]
        for claim, check in claims:
            why = self._tried(check)
            yield Stage(claim, not why, why)
        yield self.lsh_stage()

    def lsh_stage(self) -> Stage:
        claim = "with week 4's LSH attention it still never looks ahead (optional)"
        if not any(p.is_file() for p in self.given.places("lsh", self.here)):
            return Stage(claim, False, "lsh.py is not beside the others: left out.", skipped=True)
        why = self._tried(self.lsh_causal)
        unwritten = why.endswith("not written yet.")
        return Stage(claim, not why, why, skipped=unwritten)

    def found(self) -> None:
        for name in _NEEDED:
            if not any(p.is_file() for p in self.given.places(name, self.here)):
                raise _NotSo(
                    f"Week {_WEEKS[name]} is missing: put {name}.py here, or the folder "
                    f"{self.given.MODULES[name]} beside this one."
                )
        self.weeks = self.given.weeks_near(self.here, _NEEDED)

    def masks_agree(self) -> None:
        import torch

        own = self.weeks["multihead"].CausalSelfAttention(8, 1)
        x = torch.randn(2, 5, 8)
        with torch.no_grad():
            _, many = own(x, return_weights=True)
            q, k, v = own.qkv(x).chunk(3, dim=-1)
            mask = self.weeks["masking"].causal_mask(5)
            _, one = self.weeks["masking"].scaled_dot_product_attention(q, k, v, mask)
        if not _close(many.squeeze(1), one):
            raise _NotSo(
                "With one head, the weights of week 3's CausalSelfAttention and of week 2's "
                "scaled_dot_product_attention differ. Check weeks 2 and 3 by themselves."
            )

    def parity(self) -> None:
        import torch

        torch.manual_seed(1)
        plain = self.weeks["transformer"].MiniTransformer(**SIZES)
        torch.manual_seed(1)
        self.model = self.given.assemble(self.weeks, **SIZES)
        self.model.load_state_dict(plain.state_dict())
        ids = torch.randint(0, SIZES["vocab_size"], (3, 10))
        with torch.no_grad():
            expected, got = plain.eval()(ids), self.model.eval()(ids)
        if got.shape != (3, 10, SIZES["vocab_size"]):
            raise _NotSo(
                f"The logits have shape {tuple(got.shape)}; (3, 10, {SIZES['vocab_size']}) "
                "was expected: MiniTransformer, week 5."
            )
        if not _close(expected, got):
            raise _NotSo(
                "With the same parameters the logits differ: with several heads, "
                "CausalSelfAttention (week 3) computes something else."
            )

    def causal(self) -> None:
        self._never_ahead(self.model, "TransformerBlock and MiniTransformer (week 5)")

    def lsh_causal(self) -> None:
        self.weeks |= self.given.weeks_near(self.here, ("lsh",))
        model = self.given.assemble(self.weeks, **SIZES)
        # One chunk for all: with several, later tokens move the borders between earlier ones.
        self.given.with_lsh(self.weeks, model, num_heads=4, bucket_size=_TOKENS, n_hashes=2)
        self._never_ahead(model, "LSHAttention (week 4)")

    def copies(self) -> None:
        import torch

        inputs, targets = self.given.copy_task(192)
        losses = self.weeks["transformer"].fit(self.model, inputs, targets, 100)
        if not losses or not losses[-1] < 0.05 * losses[0]:
            shown = f"from {losses[0]:.2f} to {losses[-1]:.2f}" if losses else "by no step"
            raise _NotSo(f"In 100 steps the loss went {shown}. Look at fit (week 5).")
        new, answers = self.given.copy_task(200, seed=9)
        with torch.no_grad():
            right = (self.model.eval()(new).argmax(-1) == answers).float().mean().item()
        if right < 0.9:
            raise _NotSo(
                f"Of letters that it never saw it copies {right:.0%} right, where 90 % are easy: "
                "it learned by heart. Look at the positions (week 5)."
            )

    def writes(self) -> None:
        new, answers = self.given.copy_task(50, seed=10)
        ids = self.weeks["transformer"].generate(self.model, new[:, :5], 4, temperature=0)
        if ids.shape != (50, 9):
            raise _NotSo(f"generate (week 5) gave shape {tuple(ids.shape)}, not (50, 9).")
        right = (ids[:, 5:] == answers[:, 4:]).float().mean().item()
        if right < 0.8:
            raise _NotSo(
                f"The model knows the letters, but {right:.0%} of what generate (week 5) wrote "
                "are right. Is each new token chosen from the last logits?"
            )

    def _never_ahead(self, model: Any, who: str) -> None:
        import torch

        model.eval()
        one = torch.randint(0, SIZES["vocab_size"], (2, _TOKENS))
        for place in (4, 9):
            other = one.clone()
            other[:, place:] = (other[:, place:] + 1) % SIZES["vocab_size"]
            answers = []
            for ids in (one, other):
                torch.manual_seed(2)  # LSH draws its rotations
                with torch.no_grad():
                    answers.append(model(ids)[:, :place])
            if not _close(*answers):
                raise _NotSo(f"A change at token {place} changes what stands before it: {who}.")

    def _tried(self, check: Callable[[], None]) -> str:
        """Why the claim does not hold, in one line; "" where it does."""
        try:
            check()
        except _NotSo as error:
            return str(error)
        except NotImplementedError as error:
            name = str(error.args[0]).split(".")[0] if error.args else "A function"
            where = _place(error)
            return f"{name}{f' ({where})' if where else ''} is not written yet."
        except BaseException as error:
            where = _place(error, line=True)
            said = re.sub(r"\s+", " ", f"{type(error).__name__}: {_text(error)}")[:200]
            return f"{said}{f' ({where})' if where else ''}"
        return ""


def _place(error: BaseException, line: bool = False) -> str:
    """The student's file in which it was raised, with its week."""
    frames = list(traceback.walk_tb(error.__traceback__))
    for frame, number in reversed(frames):
        stem = Path(frame.f_code.co_filename).stem
        if stem in _WEEKS:
            return f"{stem}.py, week {_WEEKS[stem]}{f', line {number}' if line else ''}"
    return ""


def _text(error: BaseException) -> str:
    with contextlib.suppress(Exception):
        return str(error)
    return ""


def _close(one: Any, other: Any) -> bool:
    import torch

    return one.shape == other.shape and torch.allclose(one, other, rtol=1e-3, atol=1e-4)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
