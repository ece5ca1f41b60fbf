"""Names and arguments: a different one, a different order, one too many, one forgotten."""

from __future__ import annotations

import ast
from itertools import permutations

from ..function_scope import (
    FunctionScope,
    Proposals,
    called,
    names_in,
    number,
)

_FEW = 8  # siblings of a name, before only similar names are proposed
_AXES = ("", "[..., None]", "[:, None]")
_RANDOM = ("multinomial", "randn", "rand", "normal", "randint")


def arguments(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose arguments or values in a different order, and forgotten arguments."""
    if isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Load):
        parts = [scope.text(e) for e in node.elts]
        for order in permutations(range(len(parts))) if len(parts) in (2, 3) else ():
            if list(order) != sorted(order):
                written = ", ".join(parts[i] for i in order)
                yield "order of values", f"[{written}]" if isinstance(node, ast.List) else written
    if not isinstance(node, ast.Call):
        return
    parts = [scope.text(a) for a in node.args]
    own = called(node) in scope.code.definitions or called(node) in scope.used
    if own or len(parts) in (2, 3):
        for first in range(len(parts) - 1):
            for second in range(first + 1, len(parts)):
                swapped = list(parts)
                swapped[first], swapped[second] = swapped[second], swapped[first]
                yield "argument order", scope.with_arguments(node, swapped)
    yield from _forgotten_arguments(node, scope, parts)


def _forgotten_arguments(node: ast.Call, scope: FunctionScope, parts: list[str]) -> Proposals:
    given = {k.arg for k in node.keywords}
    target = scope.code.definitions.get(called(node))
    if isinstance(target, ast.FunctionDef):
        for argument in target.args.args[len(parts) :]:
            name = argument.arg
            if name not in given and name in scope.names:
                yield "argument", scope.with_keywords(node, {name: name})
            if name not in given and name in scope.attributes:
                yield "argument", scope.with_keywords(node, {name: f"self.{name}"})
    if called(node) in _RANDOM and "generator" in scope.parameters and "generator" not in given:
        yield "argument", scope.with_keywords(node, {"generator": "generator"})
    passed = {*parts, *(scope.text(k.value) for k in node.keywords)}
    if isinstance(node.func, ast.Name) and node.func.id[:1].isupper():  # a class
        for name in scope.parameters:
            if name not in passed:
                yield "argument", scope.with_arguments(node, [*parts, name])


def unused_names(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose using a name that the function assigns or takes as a parameter but never reads."""
    for name in scope.unused[:3] if is_operand(node, scope) else ():
        if name not in names_in(node):
            for axis in _AXES:
                for sign in "-/*+":
                    yield "unused", f"({scope.text(node)}) {sign} {name}{axis}"
            yield "unused", name
    if isinstance(node, ast.Call):
        parts = [scope.text(a) for a in node.args]
        for name in scope.unused[:4]:
            yield "argument", scope.with_arguments(node, [*parts, name])
            yield "argument", scope.with_keywords(node, {name: name})


def defaults(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a parameter in place of a literal that is its default value."""
    value, given = number(node), scope.node.args
    if value is None or isinstance(node, ast.UnaryOp):
        return
    positional = [*given.posonlyargs, *given.args]
    last = positional[len(positional) - len(given.defaults) :]
    pairs = [*zip(last, given.defaults, strict=True)]
    pairs += [(a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d]
    for argument, default in pairs:
        if number(default) == value:
            yield "argument", argument.arg


def uncalled_layers(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a layer that the method never uses in place of one that it calls, or around it."""
    parent = scope.parents.get(node)
    match node:
        case ast.Attribute(ast.Name("self")) if isinstance(parent, ast.Call):
            for other in scope.uncalled if parent.func is node else ():
                if other in scope.layers:
                    yield "name", f"self.{other}"
    if isinstance(parent, ast.Tuple):
        parent = scope.parents.get(parent)
    product = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.MatMult)
    if (product or isinstance(parent, (ast.Call, ast.Return))) and is_operand(node, scope):
        for attribute in scope.uncalled:
            yield "missing step", f"self.{attribute}({scope.text(node)})"


def sibling_names(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a sibling of the name (see `FunctionScope.siblings`), or an unread name."""
    if isinstance(node, ast.Name) and _is_read(node, scope):
        siblings = sorted(scope.siblings.get(node.id, ()))
        if len(siblings) > _FEW:  # for example the sizes and strides of a Triton kernel
            siblings = [n for n in siblings if n[0] == node.id[0] or n[-1] == node.id[-1]]
        for other in (*siblings, *scope.unused):
            if other != node.id:
                yield "name", other


def names(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose any other name of the function, attribute of the object, or key."""
    match node:
        case ast.Attribute(ast.Name("self"), attribute):
            for other in scope.attributes:
                if other != attribute:
                    yield "name", f"self.{other}"
        case ast.Constant(str(value)) if isinstance(scope.parents.get(node), ast.Subscript):
            for other in scope.keys:
                if other != value:
                    yield "name", repr(other)
        case ast.Name() if _is_read(node, scope):
            for other in scope.names:
                if other != node.id:
                    yield "name", other


def is_operand(node: ast.expr, scope: FunctionScope) -> bool:
    """Return True if an expression is a single value, and not a callable or a part of one."""
    parent = scope.parents.get(node)
    if isinstance(node, (ast.Constant, ast.Tuple, ast.List, ast.Compare, ast.BoolOp)):
        return False
    is_called = isinstance(parent, ast.Call) and parent.func is node
    return not (isinstance(parent, (ast.Attribute, ast.keyword)) or is_called)


def _is_read(node: ast.Name, scope: FunctionScope) -> bool:
    """Return True if a name of the function is read and not called."""
    parent = scope.parents.get(node)
    is_called = isinstance(parent, ast.Call) and parent.func is node
    return isinstance(node.ctx, ast.Load) and node.id in scope.names and not is_called
