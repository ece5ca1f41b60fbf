"""Kinds of changes as questions: they lead to the place and give no repair away."""

from __future__ import annotations

_QUESTIONS = {
    "axis": "along which axis?",
    "kept axis": "is the axis kept or dropped?",
    "scale": "the scale",
    "factor": "how many times over?",
    "share": "do the shares add up to one?",
    "size": "the size of what?",
    "mask": "which way round is the mask?",
    "order of axes": "the order of the axes",
    "operand order": "the order of the operands",
    "order of values": "the order of the values",
    "order of lines": "the order of the lines",
    "argument order": "the order of the arguments",
    "argument": "is everything passed on?",
    "brackets": "what is worked out first?",
    "comparison": "the comparison",
    "condition": "when is this done?",
    "constant": "the number",
    "sign": "the sign",
    "operator": "the operation",
    "operand": "what is combined here?",
    "unused": "something that was made before is never used",
    "sum over rounds": "what does each round keep of the ones before?",
    "function": "is this the right function?",
    "gradient": "what happens to the gradient?",
    "overflow": "can it overflow?",
    "infinity": "what if it is infinite?",
    "empty rows": "what about rows in which nothing is visible?",
    "kind of number": "the type of the numbers",
    "device": "on which device?",
    "bias": "with a bias or without?",
    "in place": "what is written to?",
    "overwritten": "is the value still needed that is replaced here?",
    "lost result": "where does the result go?",
    "statement": "is this needed, and here?",
    "missing step": "is a step missing here?",
    "refusal": "what is refused, and with which words?",
    "name": "is this the right one?",
    "off by one": "where does it start, where does it end?",
    "text": "the text",
    "colours": "do colours mean the same in every picture?",
    "index": "the whole or a part?",
    "memory": "how does it lie in memory?",
}


def question(kind: str) -> str:
    """What to ask about a line at which a change of this kind would do."""
    return _QUESTIONS.get(kind, kind)
