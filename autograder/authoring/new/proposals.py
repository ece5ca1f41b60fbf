"""Misconceptions that may be held of a new exercise: small changes of its solution that show.

The changes are those that mutation testing makes and those among which a mistake's line is looked
for. Kept is what gives results of its own on every draw: neither the solution's nor another's, so
that a test can reject it and a diagnosis name it.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice

import msgspec
import numpy as np
import torch

from ...repair import generate_edits
from ..verify.mutants import mutants
from .probing import Function, Probed, Sample, TooLong, alike, call, defined, is_telling

_SEEDS = (0, 1, 2)
_MOST_TRIED = 400
_WORDS = {
    "+": "plus", "-": "minus", "*": "times", "/": "over", "//": "floor", "%": "mod", "**": "power",
    "<": "less", "<=": "at_most", ">": "more", ">=": "at_least", "==": "equal", "!=": "unequal",
    "@": "matmul", "&": "and", "|": "or", "~": "not",
}  # fmt: skip


class Proposal(msgspec.Struct, frozen=True):
    """A wrong version of an exercise.

    name: what its file may be called; before, after: the lines that differ; source: the definitions
    that are wrong; shows: how results differ; rejected_by: the samples whose result is another one
    """

    name: str
    before: str
    after: str
    source: str
    shows: str
    rejected_by: tuple[int, ...]


def proposals(module: str, name: str, samples: list[Sample], most: int = 10) -> list[Proposal]:
    """Up to `most` wrong versions of the function of a module, of many kinds."""
    plain = ast.unparse(ast.parse(module))
    right = _outcomes(defined(module)[name], samples)
    seen: list[list[list[Probed]]] = [right]
    found: list[Proposal] = []
    for source in islice(_variants(module, name, plain), _MOST_TRIED):
        if len(found) == most:
            break
        proposal = _tried(source, plain, name, samples, seen)
        if proposal is not None:
            number = sum(p.name == proposal.name for p in found)
            if number:
                proposal = msgspec.structs.replace(proposal, name=f"{proposal.name}_{len(found)}")
            found.append(proposal)
    return found


def _variants(module: str, name: str, plain: str) -> Iterator[str]:
    """Changed modules, once each: one of every kind and line before a second of any."""
    groups: dict[str, list[str]] = defaultdict(list)
    for mutant in mutants(module):
        groups[f"line {mutant.line} {mutant.before[:12]}"].append(mutant.source)
    data = module.encode()
    for edit in generate_edits(module, name)[:_MOST_TRIED]:
        try:
            groups[f"{edit.kind}"].append(ast.unparse(ast.parse(edit.applied(data))))
        except (SyntaxError, ValueError):
            continue
    seen = {plain}
    for number in range(max(map(len, groups.values()), default=0)):
        for group in groups.values():
            if number < len(group) and group[number] not in seen:
                seen.add(group[number])
                yield group[number]


def _outcomes(function: Function, samples: list[Sample]) -> list[list[Probed]]:
    return [[call(function, s, seed) for seed in _SEEDS] for s in samples]


def _tried(
    source: str, plain: str, name: str, samples: list[Sample], seen: list[list[list[Probed]]]
) -> Proposal | None:
    """A variant as a proposal, if it runs and is told from all that was seen."""
    try:
        outcomes = _outcomes(defined(source)[name], samples)
    except (Exception, TooLong):  # whatever a changed module does on import
        return None
    if any(o.raised or not is_telling(o.value) for o in outcomes[0]) or any(
        _alike(outcomes, other) for other in seen
    ):
        return None
    rejecting = tuple(
        i for i, (mine, right) in enumerate(zip(outcomes, seen[0], strict=True))
        if not any(alike(a, b) for a, b in zip(mine, right, strict=True))
    )  # fmt: skip
    if not rejecting:
        return None
    seen.append(outcomes)
    before, after = _differing(plain, source)
    shows = _shown(outcomes[rejecting[0]][0], seen[0][rejecting[0]][0])
    wrong = _wrong_definitions(plain, source)
    return Proposal(_slug(before, after), before, after, wrong, shows, rejecting)


def _alike(a: list[list[Probed]], b: list[list[Probed]]) -> bool:
    """Return whether two versions give the same on some draw of each sample."""
    return all(any(map(alike, x, y)) for x, y in zip(a, b, strict=True))


def _differing(plain: str, source: str) -> tuple[str, str]:
    lines = list(difflib.ndiff(plain.split("\n"), source.split("\n")))
    before = [line[2:].strip() for line in lines if line.startswith("- ")]
    after = [line[2:].strip() for line in lines if line.startswith("+ ")]
    return "; ".join(before), "; ".join(after)


def _slug(before: str, after: str) -> str:
    """A name for the change, of the words that only one side has."""
    old, new = (re.findall(r"\w+|[^\w\s()\[\],.:]+", text) for text in (before, after))
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    put = [w for tag, _, _, i, j in blocks if tag != "equal" for w in new[i:j]]
    gone = [w for tag, i, j, _, _ in blocks if tag != "equal" for w in old[i:j]]
    put, gone = [w for w in put if w not in gone][:3], [w for w in gone if w not in put][:3]
    words = [*put, *(["for"] if put and gone else ["without"] if gone else []), *gone]
    text = "_".join(_WORDS.get(w, w) for w in words if w != "=")
    return re.sub(r"\W+|__+", "_", text).strip("_").lower() or "another_order"


def _wrong_definitions(plain: str, source: str) -> str:
    """The definitions that differ, without docstrings and annotations, as a bank holds them."""
    old = {ast.dump(top) for top in ast.parse(plain).body}
    parts = []
    for top in ast.parse(source).body:
        if ast.dump(top) not in old:
            parts.append(ast.unparse(_bare(top) if isinstance(top, ast.FunctionDef) else top))
    return "\n\n\n".join(parts) + "\n"


def _bare(node: ast.FunctionDef) -> ast.FunctionDef:
    if ast.get_docstring(node) is not None and len(node.body) > 1:
        node.body = node.body[1:]
    node.returns = None
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return node


def _shown(wrong: Probed, right: Probed) -> str:
    """How a wrong result differs, in words that give no right one away."""
    if wrong.raised:
        return f"some calls end in a {wrong.raised}."
    a, b = wrong.value, right.value
    if isinstance(a, (torch.Tensor, np.ndarray)) and type(a) is type(b):
        if a.shape != b.shape:
            return "results have another shape."
        if a.dtype != b.dtype:
            return "results have another type of numbers."
        off = float(np.mean(np.asarray(a != b)))
        return "every entry is off." if off == 1 else "some entries are off."
    if type(a) is not type(b):
        return f"results are of type {type(a).__name__}."
    if isinstance(a, (int, float)) and not isinstance(a, bool):
        return "results are too large." if a > b else "results are too small."
    if isinstance(a, (list, tuple, str, dict)) and len(a) != len(b):
        return "results are too long." if len(a) > len(b) else "results are too short."
    return "results are others."
