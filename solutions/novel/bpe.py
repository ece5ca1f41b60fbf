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
    # BEGIN SOLUTION
    pairs: Counter[Pair] = Counter()
    for word, times in words.items():
        for pair in zip(word, word[1:]):
            pairs[pair] += times
    return pairs
    # END SOLUTION


def join(word: Word, pair: Pair, token: int) -> Word:
    """The piece with every occurrence of the pair replaced by the token, from left to right.

    join((1, 1, 1), (1, 1), 256) is (256, 1).
    """
    # TODO: walk along the piece; a pair moves on by two, anything else by one.
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
        # two pieces never become one, so nothing is lost
        words = {
            join(word, best, token) if best[0] in word else word: times
            for word, times in words.items()
        }
    return learned
    # END SOLUTION


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
    """The text of tokens. Invalid UTF-8, which a model may generate, becomes "\\ufffd"."""
    # TODO: which bytes does each token stand for? Join bytes first, and decode at the end.
    # BEGIN SOLUTION
    parts = [bytes([number]) for number in range(256)]
    for left, right in learned:
        parts.append(parts[left] + parts[right])
    return b"".join(parts[token] for token in tokens).decode("utf-8", errors="replace")
    # END SOLUTION
