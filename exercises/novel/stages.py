"""The stages of `autograder check novel`: your tokens, and your model on a real text."""

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import train as given

from autograder.student.checks.stages import StageFailed, Stage, run_stage

TITLE = "A novel, read by your tokens and your model"
DONE = "Your model learns from the novel. README.md says how to train it longer."
WEEKS = {"transformer": 5, "multihead": 3}
# The first merges of this text can be found by hand.
SMALL = "low low low low low lower lower newest newest newest newest newest newest widest widest"
FIRST = [(101, 115), (256, 116), (108, 111), (258, 119), (32, 110), (32, 259)]
STRANGE = "Ünïcode, 字 and 🙂 too;\n\n  spaces\tand_underscores… "


def stages(here: Path) -> Iterator[Stage]:
    """Yield the stages in order."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    yield from Reader(here).stages()


class Reader:
    """The stages, each a method that raises StageFailed if its claim is false."""

    def __init__(self, here: Path) -> None:
        self.here = here
        self.bpe: Any = None
        self.text = given.NOVEL.read_text(encoding="utf-8")
        self.learned: list[tuple[int, int]] = []

    def stages(self) -> Iterator[Stage]:
        claims = [
            ("your bpe.py and your transformer.py of week 5 are here", self.found),
            ("count_pairs and join work on small examples", self.by_hand),
            ("train_bpe joins the most frequent pair first", self.trains),
            ("decode restores any encoded text", self.round_trip),
            ("encode joins pairs in the order in which they were learned", self.in_order),
            ("the novel has fewer than half as many tokens as bytes", self.shorter),
            ("your model learns from it, and gets better on held-out text", self.learns),
        ]
        for claim, check in claims:
            yield run_stage(claim, check, WEEKS)

    def found(self) -> None:
        for name, what in (("bpe", "bpe.py comes with this folder"), ("transformer", "week 5")):
            if not any(p.is_file() for p in given.places(name, self.here)):
                raise StageFailed(f"{name}.py is missing ({what}): put it or its folder here.")
        self.bpe = given.module_near("bpe", self.here)

    def by_hand(self) -> None:
        counted = dict(self.bpe.count_pairs({(1, 2, 1, 2): 3, (2, 1): 5}))
        if counted != {(1, 2): 6, (2, 1): 8}:
            raise StageFailed(f"(1, 2, 1, 2) three times and (2, 1) five times: not {counted}")
        if dict(self.bpe.count_pairs({(1, 1, 1): 1})) != {(1, 1): 2}:
            raise StageFailed("(1, 1, 1) contains the pair (1, 1) twice.")
        for word, expected in (((1, 1, 1), (256, 1)), ((2, 1, 1), (2, 256)), ((1,), (1,))):
            joined = self.bpe.join(word, (1, 1), 256)
            if tuple(joined) != expected:
                raise StageFailed(f"join({word}, (1, 1), 256) should be {expected}, not {joined}.")

    def trains(self) -> None:
        learned = [tuple(pair) for pair in self.bpe.train_bpe(SMALL, 6)]
        for number, (own, right) in enumerate(zip(learned, FIRST, strict=False), start=1):
            if own != right:
                raise StageFailed(
                    f"Merge {number} of the words low, lower, newest and widest is {right}, not "
                    f"{own}: join the most frequent pair, the smallest of equally frequent ones."
                )
        if len(learned) != 6:
            raise StageFailed(f"train_bpe returned {len(learned)} merges instead of six.")
        if self.bpe.train_bpe("abc", 5):
            raise StageFailed("In the text abc no pair occurs twice, so no pair is joined.")

    def round_trip(self) -> None:
        self.learned = self.bpe.train_bpe(self.text[:60_000], 200)
        for text in (self.text[100_000:104_000], STRANGE, ""):
            tokens = self.bpe.encode(text, self.learned)
            if not all(0 <= t < 256 + len(self.learned) for t in tokens):
                raise StageFailed("A token is not between 0 and 255 + the number of merges.")
            if self.bpe.decode(list(tokens), self.learned) != text:
                raise StageFailed(f"decode does not restore this text: {text[:30]!r}")
        if self.bpe.decode([255], self.learned) != "\ufffd":
            raise StageFailed("Byte 255 is not valid UTF-8: decode with errors='replace'.")

    def in_order(self) -> None:
        # "bc" was learned first, although "ab" comes first in the text
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
                f"{len(part)} bytes became {len(tokens)} tokens. With 200 merges learned from the "
                "novel, there should be fewer than half as many."
            )

    def learns(self) -> None:
        texts = given.split(self.text, self.bpe, self.learned, 0.3)
        sizes = {"d_model": 64, "n_heads": 4, "n_layers": 2, "max_len": 32}
        model = given.assemble(self.here, vocab_size=256 + len(self.learned), **sizes)
        *_, (_, seen, unseen) = given.train(model, texts, 120, 16, 32, 3e-3, 120)
        alone = entropy(texts.held_out) / texts.bytes_per_token
        if not math.isfinite(unseen) or unseen > 0.97 * alone:
            raise StageFailed(
                f"After 120 steps the loss is {unseen:.2f} bits per byte on the held-out text and "
                f"{seen:.2f} on the training text; token frequencies alone give {alone:.2f}. Does "
                "`autograder check capstone` pass?"
            )


def entropy(ids: torch.Tensor) -> float:
    """Return the entropy of the token frequencies, in bits per token."""
    counts = torch.tensor(list(Counter(ids.tolist()).values())).double()
    shares = counts / counts.sum()
    return float(-(shares * shares.log2()).sum())
