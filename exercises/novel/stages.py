"""What `autograder check novel` claims, stage by stage: your tokens, and your model on a real text."""

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import train as given

from autograder.student.checks.stages import StageFailed, Stage, run_stage

TITLE = "A novel, read by your tokens and your model"
DONE = "It reads. README.md says how to train it for longer, and what to look for."
WEEKS = {"transformer": 5, "multihead": 3}
# No text of the novel; its first merges can be found by hand.
SMALL = "low low low low low lower lower newest newest newest newest newest newest widest widest"
FIRST = [(101, 115), (256, 116), (108, 111), (258, 119), (32, 110), (32, 259)]
STRANGE = "Ünïcode, 字 and 🙂 too;\n\n  spaces\tand_underscores… "


def stages(here: Path) -> Iterator[Stage]:
    """The stages, in order."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    yield from Reader(here).stages()


class Reader:
    """The stages, each a method that raises where its claim does not hold."""

    def __init__(self, here: Path) -> None:
        self.here = here
        self.bpe: Any = None
        self.text = given.NOVEL.read_text(encoding="utf-8")
        self.learned: list[tuple[int, int]] = []

    def stages(self) -> Iterator[Stage]:
        claims = [
            ("your bpe.py and your transformer.py of week 5 are here", self.found),
            ("count_pairs counts, join joins", self.by_hand),
            ("train_bpe joins the most frequent pair first", self.trains),
            ("decode gives back what was encoded, whatever the text", self.round_trip),
            ("encode joins in the order in which it was learned", self.in_order),
            ("the novel becomes less than half as long", self.shorter),
            ("your model learns from it, and does better on what it never saw", self.learns),
        ]
        for claim, check in claims:
            yield run_stage(claim, check, WEEKS)

    def found(self) -> None:
        for name, what in (("bpe", "bpe.py comes with this folder"), ("transformer", "week 5")):
            if not any(p.is_file() for p in given.places(name, self.here)):
                raise StageFailed(f"{name}.py is missing ({what}): put it here, or its folder beside.")
        self.bpe = given.module_near("bpe", self.here)

    def by_hand(self) -> None:
        counted = dict(self.bpe.count_pairs({(1, 2, 1, 2): 3, (2, 1): 5}))
        if counted != {(1, 2): 6, (2, 1): 8}:
            raise StageFailed(f"(1, 2, 1, 2) three times and (2, 1) five times hold: {counted}")
        if dict(self.bpe.count_pairs({(1, 1, 1): 1})) != {(1, 1): 2}:
            raise StageFailed("(1, 1, 1) holds the pair (1, 1) twice.")
        for word, expected in (((1, 1, 1), (256, 1)), ((2, 1, 1), (2, 256)), ((1,), (1,))):
            joined = self.bpe.join(word, (1, 1), 256)
            if tuple(joined) != expected:
                raise StageFailed(f"join({word}, (1, 1), 256) should be {expected}, not {joined}.")

    def trains(self) -> None:
        learned = [tuple(pair) for pair in self.bpe.train_bpe(SMALL, 6)]
        for number, (own, right) in enumerate(zip(learned, FIRST, strict=False), start=1):
            if own != right:
                raise StageFailed(
                    f"Merge {number} of the words low, lower, newest and widest is {right}, "
                    f"not {own}: the most frequent pair, and of several the smallest."
                )
        if len(learned) != 6:
            raise StageFailed(f"Six merges were asked for, and {len(learned)} came.")
        if self.bpe.train_bpe("abc", 5):
            raise StageFailed("In the text abc no pair occurs twice: there is nothing to join.")

    def round_trip(self) -> None:
        self.learned = self.bpe.train_bpe(self.text[:60_000], 200)
        for text in (self.text[100_000:104_000], STRANGE, ""):
            tokens = self.bpe.encode(text, self.learned)
            if not all(0 <= t < 256 + len(self.learned) for t in tokens):
                raise StageFailed("Tokens are from 0 to 255 + the number of merges.")
            if self.bpe.decode(list(tokens), self.learned) != text:
                raise StageFailed(f"Encoded and decoded, this is no longer the same: {text[:30]!r}")
        if self.bpe.decode([255], self.learned) != "\ufffd":
            raise StageFailed("Byte 255 alone is no text: errors='replace'.")

    def in_order(self) -> None:
        # "bc" was learned first; from the left, "ab" would come first
        learned = [(98, 99), (97, 98), (256, 100)]
        for text, expected in (("abc", [97, 256]), ("abcd", [97, 258]), ("abd", [257, 100])):
            tokens = list(self.bpe.encode(text, learned))
            if tokens != expected:
                raise StageFailed(f"With the merges bc, ab, bc+d, {text} is {expected}, not {tokens}.")

    def shorter(self) -> None:
        part = self.text[200_000:220_000]
        tokens = self.bpe.encode(part, self.learned)
        if len(tokens) > len(part) / 2:
            raise StageFailed(
                f"{len(part)} bytes became {len(tokens)} tokens; 200 merges learned from the novel "
                "should do better."
            )

    def learns(self) -> None:
        texts = given.split(self.text, self.bpe, self.learned, 0.3)
        sizes = {"d_model": 64, "n_heads": 4, "n_layers": 2, "max_len": 32}
        model = given.assemble(self.here, vocab_size=256 + len(self.learned), **sizes)
        *_, (_, seen, unseen) = given.train(model, texts, 120, 16, 32, 3e-3, 120)
        alone = entropy(texts.held_out) / texts.bytes_per_token
        if not math.isfinite(unseen) or unseen > 0.97 * alone:
            raise StageFailed(
                f"After 120 steps the held-out text costs {unseen:.2f} bits per byte ({seen:.2f} "
                f"where it was trained); counting tokens alone gives {alone:.2f}. Does "
                "`autograder check capstone` pass?"
            )


def entropy(ids: torch.Tensor) -> float:
    """Bits per token, if only the tokens' frequencies are known."""
    counts = torch.tensor(list(Counter(ids.tolist()).values())).double()
    shares = counts / counts.sum()
    return float(-(shares * shares.log2()).sum())
