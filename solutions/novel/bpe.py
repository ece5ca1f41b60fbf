"""Byte-pair encoding, as used by GPT-2 (Sennrich et al., 2016).

A model reads numbers. With characters as tokens, sequences are long; with words as tokens, the
vocabulary has no limit, and new words are unknown. Byte-pair encoding is a compromise: it starts
with the 256 bytes, of which every text in every language consists, and repeatedly merges the most
frequent pair of adjacent tokens. Frequent words become one token, rare words a few.

Tokens are ints. Tokens 0 to 255 are the bytes; merge number i of the list creates token 256 + i.
"""

from __future__ import annotations

import re
from collections import Counter

Pair = tuple[int, int]
Word = tuple[int, ...]


def chunks(text: str) -> list[str]:
    """Provided: split a text into pieces, which concatenate to the text.

    A piece is usually a word with the space before it. Tokens are joined only within a piece;
    otherwise there would be tokens such as "of the d".
    """
    return re.findall(r" ?\w+| ?[^\w\s]+|\s+", text)


def count_pairs(words: dict[Word, int]) -> Counter[Pair]:
    """Count the adjacent pairs of tokens.

    Args:
        words: pieces of text, as tuples of tokens, with the number of times that each occurs.

    Returns:
        The counts. (1, 1, 1) contains the pair (1, 1) twice.
    """
    # TODO: count a pair as often as the piece that contains it.
    # BEGIN SOLUTION
    pairs: Counter[Pair] = Counter()
    for word, times in words.items():
        for pair in zip(word, word[1:]):
            pairs[pair] += times
    return pairs
    # END SOLUTION


def join(word: Word, pair: Pair, token: int) -> Word:
    """Replace every occurrence of the pair in a piece by the token, from left to right.

    join((1, 1, 1), (1, 1), 256) is (256, 1).
    """
    # TODO: go through the piece; advance by two at the pair, and by one otherwise.
    # BEGIN SOLUTION
    joined, at = [], 0
    while at < len(word):
        if word[at : at + 2] == pair:
            joined.append(token)
            at += 2
        else:
            joined.append(word[at])
            at += 1
    return tuple(joined)
    # END SOLUTION


def train_bpe(text: str, merges: int) -> list[Pair]:
    """Learn from a text which pairs to join, and in which order.

    Args:
        text: the training text. It is split by `chunks`, and each piece is encoded as UTF-8.
        merges: the maximum number of merges. Stop earlier if no pair occurs twice.

    Returns:
        The pairs in the order in which they were joined. Each round joins the most frequent pair,
        and the smallest (in the order of tuples) if several are equally frequent.
    """
    # TODO: count each different piece once. Then, in each round, choose a pair and join it in every
    # piece.
    # BEGIN SOLUTION
    counted = Counter(tuple(piece.encode()) for piece in chunks(text))
    words, learned = dict(counted), list[Pair]()
    while len(learned) < merges:
        pairs = count_pairs(words)
        best = min(pairs, key=lambda p: (-pairs[p], p), default=None)
        if best is None or pairs[best] < 2:
            break
        token = 256 + len(learned)
        learned.append(best)
        # different pieces stay different, so no key is overwritten
        words = {
            join(word, best, token) if best[0] in word else word: times
            for word, times in words.items()
        }
    return learned
    # END SOLUTION


def encode(text: str, learned: list[Pair]) -> list[int]:
    """Encode a text: in each piece, join pairs in the order in which they were learned.

    Args:
        text: any text, in any language.
        learned: the result of `train_bpe`.

    Returns:
        ints from 0 to 255 + len(learned).
    """
    # TODO: the order matters, because later merges need the tokens of earlier ones. Words occur
    # many times in a text, so cache the tokens of each piece.
    # BEGIN SOLUTION
    rank = {pair: number for number, pair in enumerate(learned)}
    known: dict[str, Word] = {}
    tokens: list[int] = []
    for piece in chunks(text):
        if piece not in known:
            word = tuple(piece.encode())
            while len(word) > 1:
                first = min(zip(word, word[1:]), key=lambda p: rank.get(p, len(rank)))
                if first not in rank:
                    break
                word = join(word, first, 256 + rank[first])
            known[piece] = word
        tokens += known[piece]
    return tokens
    # END SOLUTION


def decode(tokens: list[int], learned: list[Pair]) -> str:
    """Decode tokens to text. Invalid UTF-8, which a model may generate, becomes "\\ufffd"."""
    # TODO: which bytes does each token stand for? Join bytes first, and decode at the end.
    # BEGIN SOLUTION
    parts = [bytes([number]) for number in range(256)]
    for left, right in learned:
        parts.append(parts[left] + parts[right])
    return b"".join(parts[token] for token in tokens).decode("utf-8", errors="replace")
    # END SOLUTION
