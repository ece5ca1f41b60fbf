"""The translator of the lesson: an encoder and a decoder, without attention and with it."""

import random

import torch
from torch import nn

WORDS = {
    "the": "le",
    "and": "et",
    "cat": "chat",
    "dog": "chien",
    "horse": "cheval",
    "duck": "canard",
}
WORDS |= {"red": "rouge", "black": "noir", "white": "blanc", "green": "vert"}
WORDS |= {"sees": "voit", "follows": "suit", "hears": "entend", "likes": "aime"}
NOUNS, COLOURS = ("cat", "dog", "horse", "duck"), ("red", "black", "white", "green")
VERBS = ("sees", "follows", "hears", "likes")
ENGLISH, FRENCH = ["<end>", *WORDS], ["<start>", "<end>", *WORDS.values()]


def sentence(coloured, clauses, rng):
    """An English sentence of some clauses and its translation, in which colours follow their nouns."""
    english, french = [], []
    for clause in range(clauses):
        parts = [["the", rng.choice(COLOURS), rng.choice(NOUNS)] for _ in range(2)]
        for part, wanted in zip(parts, coloured):
            if not wanted:
                del part[1]
        if clause:
            english, french = [*english, "and"], [*french, "et"]
        verb = rng.choice(VERBS)
        english += [*parts[0], verb, *parts[1]]
        swapped = [[p[0], *p[:0:-1]] for p in parts]  # the, noun, colour
        french += [WORDS[w] for w in [*swapped[0], verb, *swapped[1]]]
    return english, french


def sentences(clauses, count, rng):
    """A batch of sentences of equal length, as ids: (B, S) and (B, T)."""
    coloured = rng.random() < 0.5, rng.random() < 0.5
    pairs = [sentence(coloured, clauses, rng) for _ in range(count)]
    source = [[ENGLISH.index(w) for w in [*e, "<end>"]] for e, _ in pairs]
    target = [[FRENCH.index(w) for w in ["<start>", *f, "<end>"]] for _, f in pairs]
    return torch.tensor(source), torch.tensor(target)


class Translator(nn.Module):
    """A recurrent encoder and decoder; with `attention`, the decoder looks back at all encoder states."""

    def __init__(self, attention, size=48):
        super().__init__()
        self.attention, self.size = attention, size
        self.source, self.target = nn.Embedding(len(ENGLISH), size), nn.Embedding(len(FRENCH), size)
        self.encoder = nn.GRU(size, size // 2, batch_first=True, bidirectional=True)
        self.decoder = nn.GRU(size, size, batch_first=True)
        self.mix, self.head = nn.Linear(2 * size, size), nn.Linear(size, len(FRENCH))

    def queries_and_states(self, source, target):
        """The decoder states (B, T, size), used as queries, and the encoder states (B, S, size)."""
        states, last = self.encoder(self.source(source))
        queries, _ = self.decoder(self.target(target), torch.cat([*last], dim=-1)[None])
        return queries, states

    def forward(self, source, target):
        """Logits (B, T, V) for the next words, and weights (B, T, S), or None without attention."""
        queries, states = self.queries_and_states(source, target)
        if not self.attention:
            return self.head(queries), None
        # with one-hot values, the output is the weights
        one_hot = torch.eye(states.shape[1]).expand(len(states), -1, -1)
        weights = nn.functional.scaled_dot_product_attention(queries, states, one_hot)
        mixed = torch.tanh(self.mix(torch.cat([weights @ states, queries], dim=-1)))
        return self.head(mixed), weights


def train(attention, steps=400, seed=1):
    """A translator trained on sentences of one to four clauses."""
    torch.manual_seed(seed)
    model, rng = Translator(attention), random.Random(seed)
    adam = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(steps):
        for group in adam.param_groups:
            group["lr"] = 1e-2 * (1 - step / steps)
        source, target = sentences(rng.randint(1, 4), 32, rng)
        logits, _ = model(source, target[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten())
        adam.zero_grad()
        loss.backward()
        adam.step()
    return model


def next_word_accuracy(model, clauses):
    """The share of correct next words in new sentences, given the correct words before each."""
    rng = random.Random(100 + clauses)
    shares = []
    for _ in range(8):
        source, target = sentences(clauses, 32, rng)
        with torch.no_grad():
            logits, _ = model(source, target[:, :-1])
        shares.append((logits.argmax(-1) == target[:, 1:]).float().mean().item())
    return sum(shares) / len(shares)
