"""Names in a misconception that nothing has: a slip of its author's, which every test rejects.

Such a version is rejected by the test that it names and told from all others, so nothing else of a
proof would see that it is not the mistake that it claims to be.
"""

from __future__ import annotations
import __future__

import builtins
import difflib
import dis
import types
from collections.abc import Iterator
from functools import lru_cache

from ...model.course.bank import Bank

_MODULE = {"__name__", "__file__", "__doc__", "__spec__", "__builtins__", "__package__"}
_CLASS = {"__module__", "__qualname__", "__annotations__"}
_READS = ("LOAD_GLOBAL", "LOAD_NAME")
_WRITES = ("STORE_NAME", "STORE_GLOBAL")


def strange_names(bank: Bank, misconception: str) -> Iterator[str]:
    """One line for each name that is read in a misconception and stands nowhere."""
    path = bank.folder / "misconceptions" / f"{misconception}.py"
    text = path.read_text(encoding="utf-8")
    own = _compiled(text, bank.solution)
    if any("import *" in source for source in (text, bank.solution)):
        return  # it may be any name
    known = _written(own) | _of_solution(bank.solution) | set(dir(builtins)) | _MODULE
    said = set[str]()
    for name, line in _read(own, known):
        if name not in said:
            said.add(name)
            near = difflib.get_close_matches(name, sorted(known), n=1)
            guess = f"; did you mean {near[0]!r}?" if near else ""
            where = path.relative_to(bank.course.root)
            yield f"{where}:{line}: there is no name {name!r} in the module{guess}"


def _compiled(text: str, solution: str) -> types.CodeType:
    """As the module is: a future import at its top says whether annotations are evaluated."""
    later = "from __future__ import annotations" in solution
    flags = __future__.annotations.compiler_flag if later else 0
    code: types.CodeType = compile(text, "<bank>", "exec", flags=flags, dont_inherit=True)
    return code


@lru_cache(maxsize=4)
def _of_solution(text: str) -> set[str]:
    return _written(_compiled(text, text))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _codes(inner)


def _written(module: types.CodeType) -> set[str]:
    """What a module defines: at its top, and by `global` in its functions."""
    found = {i.argval for i in dis.get_instructions(module) if i.opname in _WRITES}
    for code in _codes(module):
        found |= {i.argval for i in dis.get_instructions(code) if i.opname == "STORE_GLOBAL"}
    return found


def _read(module: types.CodeType, known: set[str]) -> Iterator[tuple[str, int]]:
    for code in _codes(module):
        steps, line = list(dis.get_instructions(code)), code.co_firstlineno
        here = known | _CLASS | {s.argval for s in steps if s.opname in _WRITES}
        for step in steps:
            if step.positions is not None and step.positions.lineno:
                line = step.positions.lineno
            if step.opname in _READS and step.argval not in here:
                yield step.argval, line
