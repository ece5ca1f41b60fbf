"""Capstone option: byte-pair encoding, as GPT-2 reads and writes (Sennrich et al., 2016).

A model reads numbers. Letters as tokens make texts long, words as tokens make vocabularies endless
and leave every new word out. Byte-pair encoding lies between: it begins with the 256 bytes, of which
every text in every language consists, and repeatedly merges the most frequent pair of adjacent
tokens. Frequent words end up as one token, rare ones as a few.

Tokens are ints. Tokens 0 to 255 are the bytes; merge number i of the list makes token 256 + i.
"""

from __future__ import annotations

import re
from collections import Counter

Pair = tuple[int, int]
Word = tuple[int, ...]


def chunks(text: str) -> list[str]:
    """Provided: the pieces within which tokens are joined; put together they are the text.

    A word takes the space before it along. No token crosses the border of two pieces, or there
    would be tokens such as "of the d".
    """
    return re.findall(r" ?\w+| ?[^\w\s]+|\s+", text)


def count_pairs(words: dict[Word, int]) -> Counter[Pair]:
    """Count the adjacent pairs of tokens.

    Args:
        words: pieces of text as tuples of tokens, and how often each piece occurs.

    Returns:
        The counts. (1, 1, 1) holds the pair (1, 1) twice.
    """
    # TODO: count a pair as often as the piece that contains it.
    raise NotImplementedError("count_pairs")


def join(word: Word, pair: Pair, token: int) -> Word:
    """The piece with every occurrence of the pair replaced by the token, from left to right.

    join((1, 1, 1), (1, 1), 256) is (256, 1).
    """
    # TODO: walk along the piece; a pair moves on by two, anything else by one.
    raise NotImplementedError("join")


def train_bpe(text: str, merges: int) -> list[Pair]:
    """Learn from a text which pairs to join, the first one first.

    Args:
        text: what to learn from. It is cut by `chunks`, and each piece is encoded as UTF-8.
        merges: how many pairs to join at most; fewer if no pair is left that occurs twice.

    Returns:
        The pairs in the order in which they were joined. In each round it is the most frequent one;
        of several, the smallest (as tuples compare).
    """
    # TODO: count each different piece once. Then, in each round, choose a pair and join it in every
    # piece.
    raise NotImplementedError("train_bpe")


def encode(text: str, learned: list[Pair]) -> list[int]:
    """The tokens of a text: in each piece, pairs are joined in the order in which they were learned.

    Args:
        text: any text, of any language.
        learned: what `train_bpe` gave.

    Returns:
        ints from 0 to 255 + len(learned).
    """
    # TODO: the order matters: a later merge needs the tokens of the earlier ones. A text repeats
    # its words, so remember what a piece became.
    raise NotImplementedError("encode")


def decode(tokens: list[int], learned: list[Pair]) -> str:
    """The text of tokens. Invalid UTF-8, which a model may generate, becomes "\\ufffd"."""
    # TODO: which bytes does each token stand for? Join bytes first, and decode at the end.
    raise NotImplementedError("decode")
