"""Changes of one statement: left out, moved, written out of place, or with a line before it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..source_text import Scope
from .idioms import shrinking
from .patterns import called

Texts = Iterator[tuple[str, str]]


def statements(node: ast.stmt, scope: Scope) -> Texts:
    """Texts that could stand in a statement's place, with their kinds."""
    yield from _in_place(node, scope)
    yield from _refusals(node, scope)
    yield from _negative(node, scope)
    yield from _undone(node, scope)
    yield from _unknown_keys(node, scope)
    yield from _forgotten_too(node, scope)
    yield from _given_back(node, scope)
    yield from _no_gradient(node, scope)
    yield from _missing(node, scope)
    yield from _mode(node, scope)
    yield from _buffer(node, scope)
    yield from _accumulated(node, scope)
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        yield from _assigned(node, scope)
    if isinstance(node, (ast.Expr, ast.AugAssign, ast.Assign)) and not _documents(node):
        yield "statement", "pass"


def _documents(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _in_place(node: ast.stmt, scope: Scope) -> Texts:
    text = scope.code.text
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        whole = text(node)
        name, value = node.target.id, text(node.value)
        sign = whole[len(name) :].split("=", 1)[0].strip()
        yield "in place", f"{name} = {name} {sign} ({value})"
        yield "operator", f"{name} = {value}"
        for shrink in shrinking(scope) if isinstance(node.op, ast.Add) else ():
            yield "sum over rounds", f"{name} = {name} * {shrink} + ({value})"
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        if isinstance(function, ast.Attribute):
            subject = _held_by(function.value)
            if subject in scope.names and subject == text(function.value):
                yield "lost result", f"{subject} = {text(node)}"
            if subject in scope.names and function.attr.endswith("_"):
                yield "in place", f"{subject} = {subject}.clone(); {text(node)}"
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        written = node.targets[0].value
        if isinstance(written, ast.Name):
            name = written.id
            yield "in place", f"{name} = {name}.clone(); {text(node)}"
            index, filling = text(node.targets[0].slice), text(node.value)
            yield "in place", f"{name} = {name}.masked_fill({index}, {filling})"
            yield "in place", f'{name} = {name}.masked_fill({index}, float("-inf"))'


def _held_by(node: ast.expr) -> str:
    """The name that is written to where this is: also the one whose `.data` it is."""
    while isinstance(node, ast.Attribute) and node.attr == "data":
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _written_to(function: ast.AST) -> set[str]:
    """The names that a function changes in place, by a method or by an index."""
    found = set[str]()
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found.add(_held_by(node.func.value) if node.func.attr.endswith("_") else "")
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            found.add(_held_by(node.value))
    return found


def _refusals(node: ast.stmt, scope: Scope) -> Texts:
    """What refuses bad arguments, and says which value was bad."""
    said = " ".join("{" + name + "!r}" for name in scope.parameters)
    if isinstance(node, ast.Assert):
        test = scope.code.text(node.test)
        if "self" not in test:
            yield (
                "refusal",
                f"if not ({test}): raise ValueError(f'{said} {{{test.split(' %')[0]}}}')",
            )
        yield "refusal", f"if not ({test}): raise ValueError(f'{said}')"
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        yield "refusal", f"raise ValueError(f'{said}')"


def _negative(node: ast.stmt, scope: Scope) -> Texts:
    """A refusal of negative arguments too, or of arguments that it names."""
    if not isinstance(node, ast.If) or node.orelse or len(node.body) != 1:
        return
    if not isinstance(node.body[0], ast.Raise):
        return
    test = scope.code.text(node.test)
    said = " ".join("{" + name + "!r}" for name in scope.parameters)
    for name in scope.parameters[:3]:
        negative = f"bool((torch.as_tensor({name}) < 0).any())"
        yield "refusal", f"if ({test}) or {negative}: raise ValueError(f'{said}')"


def _undone(node: ast.stmt, scope: Scope) -> Texts:
    """A count taken back before what it counted is refused."""
    if not isinstance(node, ast.If) or not any(isinstance(s, ast.Raise) for s in node.body):
        return
    for before in scope.counted:
        if before.lineno < node.lineno:
            sign = "-" if isinstance(before.op, ast.Add) else "+"
            target, value = scope.code.text(before.target), scope.code.text(before.value)
            message = next(s for s in node.body if isinstance(s, ast.Raise))
            indent = " " * message.col_offset
            if message.exc is None:
                continue
            said = f"_said = {scope.code.text(message.exc)}"
            undo = f"{said}\n{indent}{target} {sign}= {value}\n{indent}raise _said"
            yield "order of lines", f"if {scope.code.text(node.test)}:\n{indent}{undo}"


def _unknown_keys(node: ast.stmt, scope: Scope) -> Texts:
    """What looks an argument up, after a refusal of what is not there."""
    if not isinstance(node, (ast.Return, ast.Assign)):
        return
    indent = " " * node.col_offset
    for part in ast.walk(node):
        if not isinstance(part, ast.Subscript) or not isinstance(part.slice, ast.Name):
            continue
        key, held = part.slice.id, scope.code.text(part.value)
        if key in scope.parameters:
            refused = f"raise ValueError(f'{{{key}!r}}')"
            yield "refusal", f"if {key} not in {held}: {refused}\n{indent}{scope.code.text(node)}"


def _forgotten_too(node: ast.stmt, scope: Scope) -> Texts:
    """What is taken out of one table of the object, taken out of another one too."""
    taken = node.value if isinstance(node, (ast.Expr, ast.Assign)) else node
    for part in ast.walk(taken):
        match part:
            case ast.Call(ast.Attribute(ast.Attribute() as table, "pop"), [key, *_]):
                pass
            case ast.Delete([ast.Subscript(ast.Attribute() as table, key), *_]):
                pass
            case _:
                continue
        for other in scope.attributes:
            if f"self.{other}" != scope.code.text(table):
                too = f"self.{other}.pop({scope.code.text(key)}, None)"
                indent = " " * node.col_offset
                yield "given back", f"{scope.code.text(node)}\n{indent}{too}"


def _given_back(node: ast.stmt, scope: Scope) -> Texts:
    """What is deleted, handed on to another list of the object."""
    if not isinstance(node, ast.Delete) or len(node.targets) != 1:
        return
    target = node.targets[0]
    if isinstance(target, ast.Subscript):
        held, key = scope.code.text(target.value), scope.code.text(target.slice)
        for other in scope.attributes:
            if f"self.{other}" != held:
                yield "given back", f"self.{other}.extend({held}.pop({key}))"


def _no_gradient(node: ast.stmt, scope: Scope) -> Texts:
    if not isinstance(node, ast.With) or len(node.items) != 1:
        return
    context = node.items[0].context_expr
    if called(context) in ("no_grad", "inference_mode"):
        rest = scope.code.text(node)[len("with ") :]
        head = scope.code.text(context)
        yield "gradient", "if True" + rest[len(head) :]


def _missing(node: ast.stmt, scope: Scope) -> Texts:
    """A line that is not there, before or after this one."""
    text, indent = scope.code.text(node), " " * node.col_offset
    if isinstance(node, (ast.Expr, ast.Assign)) and "backward(" in text:
        optimisers = {
            t.id
            for n in ast.walk(scope.node)
            if isinstance(n, ast.Assign) and "optim" in scope.code.text(n.value)
            for t in n.targets
            if isinstance(t, ast.Name)
        }
        for name in sorted(optimisers):
            yield "missing step", f"{name}.zero_grad()\n{indent}{text}"
    if not (scope.node.body and node is _first(scope.node)):
        return
    written = _written_to(scope.node)  # there a copy is made where it is written to
    for parameter in scope.parameters[:2]:
        if parameter not in written:
            yield "kind of number", f"{parameter} = {parameter}.clone()\n{indent}{text}"
        if "np" in scope.used:
            float64 = f"if {parameter}.dtype.kind != 'f': {parameter} = {parameter}.astype(float)"
            yield "kind of number", f"{float64}\n{indent}{text}"
        else:
            yield "kind of number", f"{parameter} = {parameter}.float()\n{indent}{text}"
    if "model" in scope.parameters:
        yield "missing step", f"model.train()\n{indent}{text}"
        yield "missing step", f"model.eval()\n{indent}{text}"


def _mode(node: ast.stmt, scope: Scope) -> Texts:
    """A model's mode, set where the function begins but for the first line."""
    early = [s for s in scope.node.body if not _documents(s)][:3]
    if "model" not in scope.parameters or node not in early:
        return
    text, indent = scope.code.text(node), " " * node.col_offset
    for mode in ("train", "eval"):
        yield "missing step", f"{text}\n{indent}model.{mode}()"


def _buffer(node: ast.stmt, scope: Scope) -> Texts:
    """A tensor that a module keeps, so that it moves with it."""
    if not scope.name.endswith(".__init__") or not isinstance(node, ast.Assign):
        return
    target, made = node.targets[0], called(node.value)
    own = isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)
    if own and target.value.id == "self" and made and made[:1].islower():  # type: ignore[attr-defined]
        name, value = target.attr, scope.code.text(node.value)  # type: ignore[attr-defined]
        yield "device", f'self.register_buffer("{name}", {value}, persistent=False)'


def _accumulated(node: ast.stmt, scope: Scope) -> Texts:
    """A sum that is begun anew in every round of a loop."""
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
        return
    parent: ast.AST | None = scope.parents.get(node)
    if isinstance(parent, (ast.For, ast.While)):
        name, value = node.targets[0].id, scope.code.text(node.value)
        yield "sum over rounds", f"{name} = {name} + ({value})"


def _first(node: ast.FunctionDef) -> ast.stmt:
    body = [s for s in node.body if not _documents(s)]
    return body[0] if body else node.body[0]


def _assigned(node: ast.Assign, scope: Scope) -> Texts:
    """Names that are assigned in another order; a value that is used changed from here on."""
    target, value = node.targets[0], scope.code.text(node.value)
    if isinstance(target, ast.Tuple) and 2 <= len(target.elts) <= 3:
        parts = [scope.code.text(e) for e in target.elts]
        orders = [[1, 0], [1, 0, 2], [0, 2, 1], [2, 1, 0]]
        for order in orders:
            if len(order) == len(parts):
                yield "order of values", f"{', '.join(parts[i] for i in order)} = {value}"
    if isinstance(target, ast.Name):
        name = target.id
        for wrapped in (
            f"torch.nan_to_num({value}, neginf=0.0)",
            f"({value}).masked_fill(torch.isinf({value}), 0.0)",
        ):
            if called(node.value) in ("amax", "max", "maximum"):
                yield "infinity", f"{name} = {wrapped}"
        others = [a for a in scope.attributes if f"self.{a}" not in scope.code.text(scope.node)]
        for attribute in others:
            yield "missing step", f"{name} = self.{attribute}({value})"
