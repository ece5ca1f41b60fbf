"""Propose edits of expressions: operations, numbers, comparisons, names and arguments."""

import ast
from itertools import combinations, permutations

from ..function_scope import FunctionScope, Proposals, called, names_in, number

_COMPARE: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">=", ">"),
    ast.LtE: ("<", ">", ">="),
    ast.Gt: (">=", "<=", "<"),
    ast.GtE: (">", "<", "<="),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
}
_INSTEAD = {"+": "-*", "-": "+", "*": "/+", "/": "*", "//": "%", "&": "|", "|": "&"}
_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.MatMult: "@",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.Mod: "%",
}
_ROOTS = (0.5, -0.5, 0.25, -0.25)
_LARGE, _TINY = 1000, 1e-3  # larger may stand for infinity, smaller for an epsilon


def scales(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose adding, removing or inverting a scale, or replacing it with its root or square."""
    text, left = scope.text(node), _first_factor(node)
    if left is not None:
        yield "scale", f"({text}) / ({scope.text(left)}).shape[-1] ** 0.5"
        yield "scale", f"({text}) * ({scope.text(left)}).shape[-1] ** 0.5"
    match node:
        case ast.BinOp(first, ast.Div() | ast.Mult() as op, second):
            sign, inverse = "/*" if isinstance(op, ast.Div) else "*/"
            one, two = scope.text(first), scope.text(second)
            yield "scale", f"({one}) {sign} ({two}) ** 0.5"
            yield "scale", f"({one}) {inverse} ({two})"
            yield "scale", f"({one}) {sign} ({two}) ** 2"
            yield "scale", one
            if sign == "/":
                yield from _means(first, scope)
        case ast.BinOp(base, ast.Pow(), exponent) if isinstance(number(exponent), float):
            power = number(exponent) or 0.0
            yield "scale", f"({scope.text(base)}) ** {-power}"
            yield "scale", f"({scope.text(base)}) ** {power / 2}"
        case ast.Call(_, [argument], []) if called(node) == "sqrt":
            yield "scale", scope.text(argument)


def _first_factor(node: ast.expr) -> ast.expr | None:
    """Return the first factor of a matrix product, or None if the node is not a product."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return node.left
    if isinstance(node, ast.Call) and called(node) in ("matmul", "bmm", "einsum", "dot"):
        given = [a for a in node.args if not isinstance(a, ast.Constant)]
        if given and isinstance(given[0], ast.List):
            given = given[0].elts
        return given[0] if given and not isinstance(given[0], ast.Starred) else None
    return None


def _means(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose `reduction="mean"` instead of `reduction="sum"` in a loss."""
    for keyword in node.keywords if isinstance(node, ast.Call) else ():
        value = keyword.value
        if keyword.arg == "reduction" and isinstance(value, ast.Constant) and value.value == "sum":
            yield "factor", scope.text(node).replace(scope.text(value), '"mean"')


def roots(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose the square root of an expression, or a different expression under a root."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Mult, ast.Add)):
        yield "scale", f"({scope.text(node)}) ** 0.5"
    match scope.parents.get(node):
        case ast.Call(_, arguments) as parent if called(parent) == "sqrt":
            inside = node in arguments
        case ast.BinOp(left, ast.Pow(), power):
            inside = left is node and number(power) in _ROOTS
        case _:
            inside = False
    if not inside or isinstance(node, ast.Constant):
        return
    text = scope.text(node)
    others = [f"self.{a}" for a in scope.attributes] if "self" in text else scope.names
    for other in (*others[:12], *(f"{name}.shape[-1]" for name in scope.names[:10])):
        yield "scale", other


def factors(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose twice or half a value, one more or one less, or the opposite sign."""
    text, parent = scope.text(node), scope.parents.get(node)
    match node:
        case ast.BinOp(_, ast.Mult() | ast.Pow()):
            yield "factor", f"({text}) * 2"
            yield "factor", f"({text}) / 2"
        case ast.UnaryOp(ast.USub(), operand):
            yield "factor", f"2 * ({text})"
            yield "sign", scope.text(operand)
    in_sum = isinstance(parent, ast.BinOp) and isinstance(parent.op, (ast.Add, ast.Sub))
    if (in_sum or isinstance(parent, ast.Compare)) and not isinstance(node, ast.Constant):
        yield "factor", f"({text}) / 2"
        yield "factor", f"({text}) * 2"
        yield "off by one", f"1 + ({text})"
        yield "off by one", f"({text}) - 1"
    is_size = isinstance(node, ast.Subscript) and scope.text(node.value).endswith(".shape")
    if is_size or called(node) in ("len", "numel"):
        yield "off by one", f"({text}) - 1"
        yield "off by one", f"({text}) + 1"


def brackets(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose different brackets, which evaluate the same operands in a different order."""
    if not isinstance(node, ast.BinOp) or type(node.op) not in _SIGNS:
        return
    sign = _SIGNS[type(node.op)]
    match node.left:
        case ast.BinOp(first, op, second) if _SIGNS.get(type(op), sign) != sign:
            inner, last = _SIGNS[type(op)], scope.text(node.right)
            one, two = scope.text(first), scope.text(second)
            yield "brackets", f"({one}) {inner} (({two}) {sign} ({last}))"
            yield "brackets", f"(({one}) {sign} ({last})) {inner} ({two})"
    match node.right:
        case ast.BinOp(second, op, third) if _SIGNS.get(type(op), sign) != sign:
            left = f"({scope.text(node.left)}) {sign} ({scope.text(second)})"
            yield "brackets", f"({left}) {_SIGNS[type(op)]} ({scope.text(third)})"


def operands(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a different operation, swapped operands, or only one of the operands."""
    if not isinstance(node, ast.BinOp) or type(node.op) not in _SIGNS:
        return
    left, right, sign = scope.text(node.left), scope.text(node.right), _SIGNS[type(node.op)]
    by_one = sign in "+-" and number(node.right) == 1
    for other in _INSTEAD.get(sign, ""):
        if not (by_one and other == "*"):  # a factor of 1 only removes the operand
            yield "off by one" if by_one else "operator", f"({left}) {other} ({right})"
    if sign in "-/@" or (sign == "**" and number(node.right) not in (*_ROOTS, 2, 3)):
        yield "operand order", f"({right}) {sign} ({left})"
    if sign in ("+", "-", "*", "/", "&", "|"):
        yield "off by one" if by_one else "operand", left
        if sign in "+*&|":
            yield "operand", right
    if sign == "@":
        yield "order of axes", f"({left}) @ ({right}).swapaxes(-1, -2)"
        yield "order of axes", f"({left}).swapaxes(-1, -2) @ ({right})"


def comparisons(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a different comparison."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = scope.text(node.left), scope.text(node.comparators[0])
        for sign in _COMPARE.get(type(node.ops[0]), ()):
            yield "comparison", f"{left} {sign} {right}"


def literals(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a different constant, such as one more or less, the opposite sign or infinity."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "constant", str(not node.value)
        return
    value = number(node)
    if value is None or number(scope.parents.get(node)) not in (None, value):
        return
    if isinstance(value, int) and abs(value) <= _LARGE:
        others = [str(n) for n in (value + 1, value - 1, -value) if n != value]
    elif not _TINY <= abs(value) <= _LARGE:
        others = ['float("-inf")', "0.0", repr(value * 10), repr(value / 10)]
    else:
        others = [repr(n) for n in (-value, 1.0 / value, value / 2, value * 2)]
        if not 0.1 <= abs(value) < 10:
            others += [repr(value * 10), repr(value / 10)]
    yield from (("constant", other) for other in dict.fromkeys(others))


_FEW = 8  # a name with more siblings is replaced only by names with equal first or last letters
_AXES = ("", "[..., None]", "[:, None]")
_RANDOM = ("multinomial", "randn", "rand", "normal", "randint")


def arguments(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a different order of arguments or values, or an additional argument."""
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
        for first, second in combinations(range(len(parts)), 2):
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
    if isinstance(node.func, ast.Name) and node.func.id[:1].isupper():  # probably a class
        for name in scope.parameters:
            if name not in passed:
                yield "argument", scope.with_arguments(node, [*parts, name])


def unused_names(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose using a parameter or an assigned name that the function never reads."""
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


def uncalled_layers(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose an unused layer, called in place of a different layer or applied to an operand."""
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
    """Propose a name from the same assignment or parameter list, or a name that is never read."""
    if isinstance(node, ast.Name) and _is_read(node, scope):
        siblings = sorted(scope.siblings.get(node.id, ()))
        if len(siblings) > _FEW:  # for example the sizes and strides of a Triton kernel
            siblings = [n for n in siblings if n[0] == node.id[0] or n[-1] == node.id[-1]]
        yield from (("name", other) for other in (*siblings, *scope.unused))


def names(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a different variable of the function, attribute of `self`, or dictionary key."""
    match node:
        case ast.Attribute(ast.Name("self")):
            others = [f"self.{attribute}" for attribute in scope.attributes]
        case ast.Constant(str(value)) if isinstance(scope.parents.get(node), ast.Subscript):
            others = [repr(key) for key in scope.keys if key != value]
        case ast.Name() if _is_read(node, scope):
            others = scope.names
        case _:
            others = []
    yield from (("name", other) for other in others)


def is_operand(node: ast.expr, scope: FunctionScope) -> bool:
    """Return True if an expression may be a numeric operand.

    Return False for constants, tuples, lists, comparisons, Boolean operations, called functions,
    keyword values and objects of attributes.
    """
    parent = scope.parents.get(node)
    if isinstance(node, (ast.Constant, ast.Tuple, ast.List, ast.Compare, ast.BoolOp)):
        return False
    is_called = isinstance(parent, ast.Call) and parent.func is node
    return not (isinstance(parent, (ast.Attribute, ast.keyword)) or is_called)


def _is_read(node: ast.Name, scope: FunctionScope) -> bool:
    """Return True if a node reads a variable of the function without calling it."""
    parent = scope.parents.get(node)
    is_called = isinstance(parent, ast.Call) and parent.func is node
    return isinstance(node.ctx, ast.Load) and node.id in scope.names and not is_called
