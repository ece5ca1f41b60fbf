"""What differs between two right or wrong versions of a function, told by what they do.

Names of one's own and layout are no difference. What is alike is laid side by side first; where two
steps do nearly the same, the smallest part that differs is told.
"""

from __future__ import annotations

import ast
import copy
import difflib
from collections.abc import Iterator
from itertools import zip_longest

from ..folder.source import Definition

_MOST = 6
_DOES = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide",
    ast.FloorDiv: "divide without a remainder", ast.Mod: "take the remainder",
    ast.Pow: "take a power",
    ast.MatMult: "multiply as matrices", ast.BitAnd: "ask for both", ast.BitOr: "ask for either",
    ast.BitXor: "ask for one of two",
}  # fmt: skip
_SIGNS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


def contrasts(mine: Definition, other: Definition) -> list[str]:
    """Sentences on what differs, from the top; the lines are of `mine`."""
    if _bare(mine) == _bare(other):
        return ["Step by step it is the same; only names and layout differ."]
    said = list(_told(mine, other))
    if not said:
        return ["The steps are the same, but some of their names stand in other places."]
    more = len(said) - _MOST
    return said[:_MOST] + [f"And {more} more places differ."] * (more > 0)


def _told(mine: Definition, other: Definition) -> Iterator[str]:
    loops = [sum(isinstance(n, ast.For | ast.While) for n in ast.walk(d)) for d in (mine, other)]
    if bool(loops[0]) != bool(loops[1]):
        yield (
            "You go through the values in a loop; the solution lets one operation do it for all."
            if loops[0]
            else "The solution goes through the values in a loop; you let one operation do it."
        )
    left, right = _steps(mine), _steps(other)
    shared = _parameters(mine) & _parameters(other)
    own = _locals(mine) - shared, _locals(other) - shared
    yield from _defaults(mine, other)
    keys = [[_key(s, o) for s in steps] for steps, o in zip((left, right), own, strict=True)]
    matcher = difflib.SequenceMatcher(None, keys[0], keys[1], autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            continue
        for a, b in zip_longest(left[i:j], right[k:m]):
            yield from _of_steps(a, b, *own)


def _of_steps(
    a: ast.stmt | None, b: ast.stmt | None, mine: set[str], other: set[str]
) -> Iterator[str]:
    if a is None and b is not None:
        yield f"The solution has one more step: `{_text(b)}`."
    elif b is None and a is not None:
        yield f"Line {a.lineno}: a step that the solution does not need: `{_text(a)}`."
    elif a is not None and b is not None:
        for said in _differing(a, b, mine, other):
            yield f"Line {a.lineno}: {said}."


def _differing(a: ast.AST, b: ast.AST, mine: set[str], other: set[str]) -> list[str]:
    """What differs in two trees, told at the smallest part."""
    if isinstance(a, ast.Name) and isinstance(b, ast.Name):
        return _of_names(a.id, b.id, mine, other)
    told = _of_kind(a, b) if type(a) is type(b) else ""
    if told:
        return [told]
    pairs = _children(a, b)
    if type(a) is not type(b) or pairs is None:
        return [f"you have `{_text(a)}` where the solution has `{_text(b)}`"]
    said = [s for x, y in pairs for s in _differing(x, y, mine, other)]
    if len(said) > 2 and isinstance(a, ast.expr):
        return [f"you have `{_text(a)}` where the solution has `{_text(b)}`"]
    return said


def _of_names(a: str, b: str, mine: set[str], other: set[str]) -> list[str]:
    if a == b or (a in mine and b in other):
        return []  # names of one's own
    return [f"you use `{a}` where the solution uses `{b}`"]


def _of_kind(a: ast.AST, b: ast.AST) -> str:
    """A difference of two nodes of a kind that has a word of its own."""
    if isinstance(a, ast.Constant) and isinstance(b, ast.Constant) and a.value != b.value:
        return f"you have `{a.value!r}` where the solution has `{b.value!r}`"
    if isinstance(a, ast.BinOp) and isinstance(b, ast.BinOp):
        if type(a.op) is not type(b.op):
            return f"you {_DOES[type(a.op)]} where the solution {_third(_DOES[type(b.op)])}" \
                if type(a.op) in _DOES and type(b.op) in _DOES else ""  # fmt: skip
        if _same(a.left, b.right) and _same(a.right, b.left) and not _same(a.left, a.right):
            return f"the two sides of `{_text(a)}` are exchanged in the solution"
    if isinstance(a, ast.Compare) and isinstance(b, ast.Compare):
        signs = [[_SIGNS[type(o)] for o in n.ops] for n in (a, b)]
        if signs[0] != signs[1]:
            return f"you compare by `{' '.join(signs[0])}`, the solution by `{' '.join(signs[1])}`"
    if isinstance(a, ast.Attribute) and isinstance(b, ast.Attribute) and a.attr != b.attr:
        return f"you take `{a.attr}`, the solution `{b.attr}`"
    if isinstance(a, ast.Call) and isinstance(b, ast.Call):
        return _of_calls(a, b)
    return ""


def _of_calls(a: ast.Call, b: ast.Call) -> str:
    given = [{k.arg: _text(k.value) for k in n.keywords} for n in (a, b)]
    missing = [f"`{n}={v}`" for n, v in given[1].items() if n not in given[0]]
    extra = [f"`{n}={v}`" for n, v in given[0].items() if n not in given[1]]
    if missing and not extra and len(a.args) == len(b.args):
        return f"the solution also passes {' and '.join(missing)} to `{_text(b.func)}`"
    if extra and not missing and len(a.args) == len(b.args):
        return f"you also pass {' and '.join(extra)} to `{_text(a.func)}`"
    return ""


def _third(verb: str) -> str:
    first, _, rest = verb.partition(" ")
    ending = "ies" if first.endswith("ply") else "s"
    stem = first[:-1] if ending == "ies" else first
    return f"{stem}{ending} {rest}".strip()


def _children(a: ast.AST, b: ast.AST) -> list[tuple[ast.AST, ast.AST]] | None:
    """The parts of two nodes in pairs; None if they do not go together."""
    pairs: list[tuple[ast.AST, ast.AST]] = []
    for (_, x), (_, y) in zip(ast.iter_fields(a), ast.iter_fields(b), strict=False):
        if isinstance(x, list) and isinstance(y, list):
            if x and isinstance(x[0], ast.stmt):
                continue  # steps of their own
            if len(x) != len(y):
                return None
            pairs += [(p, q) for p, q in zip(x, y, strict=True) if isinstance(p, ast.AST)]
        elif isinstance(x, ast.AST) and isinstance(y, ast.AST):
            pairs.append((x, y))
        elif x != y and not isinstance(x, list | type(None)):
            return None
    return pairs


def _steps(definition: Definition) -> list[ast.stmt]:
    """The statements of a definition in their order, those within others after these."""
    found: list[ast.stmt] = []

    def walk(body: list[ast.stmt]) -> None:
        for statement in body:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue
            found.append(statement)
            for field in ("body", "orelse", "finalbody"):
                walk(getattr(statement, field, []))

    walk(definition.body)
    return found


def _defaults(mine: Definition, other: Definition) -> Iterator[str]:
    """Parameters whose value is another one if none is given."""
    given = [_given(d) for d in (mine, other)]
    for name, value in given[0].items():
        if name in given[1] and value != given[1][name]:
            yield f"`{name}` is {value} by default, in the solution {given[1][name]}."


def _given(definition: Definition) -> dict[str, str]:
    if isinstance(definition, ast.ClassDef):
        return {}
    plain, defaults = definition.args.args, definition.args.defaults
    pairs = zip(plain[len(plain) - len(defaults) :], defaults, strict=True)
    only = zip(definition.args.kwonlyargs, definition.args.kw_defaults, strict=True)
    return {a.arg: _text(d) for a, d in [*pairs, *only] if d is not None}


def _parameters(definition: Definition) -> set[str]:
    """The parameters of a function, or of a class's methods."""
    body = definition.body if isinstance(definition, ast.ClassDef) else [definition]
    functions = (n for n in body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    every = (a for f in functions for a in (*f.args.posonlyargs, *f.args.args, *f.args.kwonlyargs))
    return {a.arg for a in every}


def _locals(definition: Definition) -> set[str]:
    names = {n.arg for n in ast.walk(definition) if isinstance(n, ast.arg)}
    stored = (n for n in ast.walk(definition) if isinstance(n, ast.Name))
    return names | {n.id for n in stored if isinstance(n.ctx, ast.Store)}


def _key(statement: ast.stmt, own: set[str]) -> str:
    """A step without the names of one's own and without what stands within it."""
    twin = copy.deepcopy(statement)
    for field in ("body", "orelse", "finalbody"):
        if isinstance(getattr(twin, field, None), list):
            setattr(twin, field, [])
    for node in ast.walk(twin):
        if isinstance(node, ast.Name) and node.id in own:
            node.id = "_"
    return ast.dump(twin)


def _bare(definition: Definition) -> str:
    """A definition with its names numbered as they appear, without texts and annotations."""
    twin, numbers = copy.deepcopy(definition), dict[str, str]()
    own = _locals(twin)
    for node in ast.walk(twin):
        if isinstance(node, ast.arg):
            node.annotation = None
            node.arg = numbers.setdefault(node.arg, f"v{len(numbers)}")
        elif isinstance(node, ast.Name) and node.id in own:
            node.id = numbers.setdefault(node.id, f"v{len(numbers)}")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if ast.get_docstring(node) is not None:
                node.body = node.body[1:]
            if not isinstance(node, ast.ClassDef):
                node.returns = None
    return ast.dump(twin)


def _same(a: ast.AST, b: ast.AST) -> bool:
    return ast.dump(a) == ast.dump(b)


def _text(node: ast.AST) -> str:
    return ast.unparse(node).split("\n")[0][:70]
