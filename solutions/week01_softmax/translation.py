"""A tiny translation, as the lesson has it: with one vector for a sentence, and with attention."""

import math
import random

import torch
from torch import nn

WORDS = {"the": "le", "and": "et", "cat": "chat", "dog": "chien", "horse": "cheval", "duck": "canard"}
WORDS |= {"red": "rouge", "black": "noir", "white": "blanc", "green": "vert"}
WORDS |= {"sees": "voit", "follows": "suit", "hears": "entend", "likes": "aime"}
NOUNS, COLOURS = ("cat", "dog", "horse", "duck"), ("red", "black", "white", "green")
VERBS = ("sees", "follows", "hears", "likes")
ENGLISH, FRENCH = ["<end>", *WORDS], ["<start>", "<end>", *WORDS.values()]


def sentence(coloured, clauses, chance):
    """An English sentence of some clauses, and its translation: colours follow their nouns."""
    english, french = [], []
    for clause in range(clauses):
        parts = [["the", chance.choice(COLOURS), chance.choice(NOUNS)] for _ in range(2)]
        for part, wanted in zip(parts, coloured):
            if not wanted:
                del part[1]
        if clause:
            english, french = [*english, "and"], [*french, "et"]
        verb = chance.choice(VERBS)
        english += [*parts[0], verb, *parts[1]]
        turned = [[p[0], *p[:0:-1]] for p in parts]  # the, noun, colour
        french += [WORDS[w] for w in [*turned[0], verb, *turned[1]]]
    return english, french


def sentences(clauses, count, chance):
    """Sentences of one length, as ids: (B, S) and (B, T)."""
    coloured = chance.random() < 0.5, chance.random() < 0.5
    pairs = [sentence(coloured, clauses, chance) for _ in range(count)]
    source = [[ENGLISH.index(w) for w in [*e, "<end>"]] for e, _ in pairs]
    target = [[FRENCH.index(w) for w in ["<start>", *f, "<end>"]] for _, f in pairs]
    return torch.tensor(source), torch.tensor(target)


class Translator(nn.Module):
    """Reads with one recurrent network, writes with another; `score` is additive, product or None."""

    def __init__(self, score, size=48):
        super().__init__()
        self.score, self.size = score, size
        self.read_word, self.written_word = nn.Embedding(len(ENGLISH), size), nn.Embedding(len(FRENCH), size)
        self.reader = nn.GRU(size, size // 2, batch_first=True, bidirectional=True)  # forwards and backwards
        self.writer = nn.GRU(size, size, batch_first=True)
        self.W_q, self.W_k = (nn.Linear(size, size, bias=False) for _ in range(2))
        self.u = nn.Linear(size, 1, bias=False)
        self.mix, self.choose = nn.Linear(2 * size, size), nn.Linear(size, len(FRENCH))

    def queries_and_states(self, source, written):
        """The writer's states (B, T, size), which are the queries, and the reader's (B, S, size)."""
        states, last = self.reader(self.read_word(source))
        queries, _ = self.writer(self.written_word(written), torch.cat([*last], dim=-1)[None])
        return queries, states

    def forward(self, source, written):
        """Logits (B, T, V) for the next words, and weights (B, T, S), or None without attention."""
        queries, states = self.queries_and_states(source, written)
        if self.score is None:
            return self.choose(queries), None
        if self.score == "additive":
            hidden = torch.tanh(self.W_q(queries)[:, :, None] + self.W_k(states)[:, None])
            scores = self.u(hidden)[..., 0]
        else:
            scores = queries @ states.transpose(-2, -1) / math.sqrt(self.size)
        weights = torch.softmax(scores, dim=-1)
        mixed = torch.tanh(self.mix(torch.cat([weights @ states, queries], dim=-1)))
        return self.choose(mixed), weights


def train(score, steps=400, seed=1):
    """A translator that has seen sentences of one to four clauses."""
    torch.manual_seed(seed)
    model, chance = Translator(score), random.Random(seed)
    adam = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(steps):
        for group in adam.param_groups:
            group["lr"] = 1e-2 * (1 - step / steps)
        source, target = sentences(chance.randint(1, 4), 32, chance)
        logits, _ = model(source, target[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten())
        adam.zero_grad()
        loss.backward()
        adam.step()
    return model


def right_words(model, clauses):
    """The share of next words that are right, in new sentences of that many clauses."""
    chance = random.Random(100 + clauses)
    shares = []
    for _ in range(8):
        source, target = sentences(clauses, 32, chance)
        with torch.no_grad():
            logits, _ = model(source, target[:, :-1])
        shares.append((logits.argmax(-1) == target[:, 1:]).float().mean().item())
    return sum(shares) / len(shares)
