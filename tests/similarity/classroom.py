"""A class made from a week's bank: independent students, and one who copied.

Each student writes each exercise in one of the ways in the bank: the solution, an alternative or a
misconception. There are about ten ways for each, so many students choose the same one and vary its
style: a value gets a variable or not, `x.sum(...)` is `torch.sum(x, ...)`, `a > b` is `b < a`.
Without `own_words` the bank's code is not varied, which is harder than any class: with few
exercises, some independent pairs are then equal.
"""

from __future__ import annotations

import ast
import random
from dataclasses import dataclass

from autograder.model.course import Course, Week
from autograder.model.course.bank import Bank

Definition = ast.FunctionDef | ast.ClassDef


@dataclass
class Way:
    """One way to write an exercise, with the definitions and imports that it needs."""

    name: str
    imports: list[str]
    needed: dict[str, str]  # name -> source, the exercise last


def ways(course: Course, week: Week) -> dict[str, list[Way]]:
    """By exercise: every way to write it. Right ones come first."""
    bank = Bank(course, week)
    sources = {"solution": bank.solution}
    sources |= {
        name: source.removeprefix(bank.solution) for name, source in bank.alternatives.items()
    }
    found: dict[str, list[Way]] = {e.name: [] for e in week.exercises}
    for name, source in sources.items():
        for exercise in found:
            found[exercise] += _way(name, source, exercise, set(found))
    for wrong in bank.misconceptions:
        source = wrong.source.removeprefix(bank.solution)
        found[wrong.exercise] += _way(wrong.name, source, wrong.exercise, set(found))
    return found


def _way(name: str, source: str, exercise: str, exercises: set[str]) -> list[Way]:
    tree = ast.parse(source)
    defined: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, Definition):
            defined[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            defined[node.targets[0].id] = node
    if exercise not in defined:
        return []
    wanted = _reachable(exercise, defined, exercises)
    needed = {
        n: ast.get_source_segment(source, node) or "" for n, node in defined.items() if n in wanted
    }
    imports = [
        ast.get_source_segment(source, n) or ""
        for n in tree.body
        if isinstance(n, ast.Import | ast.ImportFrom)
    ]
    return [Way(name, imports, needed)]


def _reachable(exercise: str, defined: dict[str, ast.stmt], exercises: set[str]) -> set[str]:
    """The exercise and the names of its module that it uses; other exercises are the student's."""
    found, waiting = set(), [exercise]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        used = {n.id for n in ast.walk(defined[name]) if isinstance(n, ast.Name)}
        waiting += [u for u in used if u in defined and u not in exercises]
    return found


def honest(
    course: Course, week: Week, number: int, seed: int, *, own_words: bool = True
) -> dict[str, str]:
    """Modules of students who worked alone; two in three exercises are written right."""
    draw, known = random.Random(seed), ways(course, week)
    modules = {}
    right = 1 + len(Bank(course, week).alternatives)
    for n in range(number):
        chosen = []
        for options in known.values():
            good, wrong = options[:right], options[right:]
            chosen.append(draw.choice(good if not wrong or draw.random() < 2 / 3 else wrong))
        source = module(chosen)
        modules[f"honest{n:02}"] = reworded(source, draw) if own_words else source
    return modules


def module(chosen: list[Way]) -> str:
    imports = dict.fromkeys(i for way in chosen for i in way.imports)
    needed: dict[str, str] = {}
    for way in chosen:
        for name, source in way.needed.items():
            needed.setdefault(name, source)
    future = [i for i in imports if "__future__" in i]
    rest = [i for i in imports if i not in future]
    return "\n".join([*future, *rest, "", ""]) + "\n\n\n".join(needed.values()) + "\n"


def reworded(source: str, draw: random.Random) -> str:
    """Rewrite a module in a different style."""
    return ast.unparse(ast.fix_missing_locations(_Reworded(draw).visit(ast.parse(source))))


class _Reworded(ast.NodeTransformer):
    """Random choices of style. It is text to compare, not to run."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.named: list[ast.stmt] = []
        self.number = 0

    def often(self) -> bool:
        return self.draw.random() < 0.35

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        return self._statement(node)

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        return self._statement(node)

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        """Assign an operand to a variable on the line before, sometimes."""
        self.named = []
        node = self.generic_visit(node)
        return [*self.named, node]

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        for side in ("left", "right"):
            operand = getattr(node, side)
            calm = not any(isinstance(n, ast.Lambda | ast.comprehension) for n in ast.walk(operand))
            if isinstance(operand, ast.BinOp | ast.Call) and calm and self.often():
                self.number += 1
                name = f"part_{self.number}"
                self.named.append(ast.Assign([ast.Name(name, ast.Store())], operand))
                setattr(node, side, ast.Name(name, ast.Load()))
        self.generic_visit(node)
        if isinstance(node.op, ast.Add | ast.Mult) and self.often():
            numbers = not isinstance(node.left, ast.List | ast.Constant)
            if numbers and not isinstance(node.right, ast.List | ast.Constant):
                node.left, node.right = node.right, node.left
        if isinstance(node.op, ast.MatMult) and self.often():
            return ast.Call(_attribute("torch", "matmul"), [node.left, node.right], [])
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        flipped = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}
        kind = flipped.get(type(node.ops[0]))
        if kind and len(node.ops) == 1 and self.often():
            return ast.Compare(node.comparators[0], [kind()], [node.left])
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        called = node.func
        methods = ("sum", "exp", "amax", "softmax", "transpose", "masked_fill", "where", "matmul")
        if isinstance(called, ast.Attribute) and called.attr in methods and self.often():
            if isinstance(called.value, ast.Name) and called.value.id in ("torch", "np", "numpy"):
                if node.args and called.attr != "where":
                    return ast.Call(
                        ast.Attribute(node.args[0], called.attr), node.args[1:], node.keywords
                    )
            else:
                return ast.Call(
                    _attribute("torch", called.attr), [called.value, *node.args], node.keywords
                )
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        if node.orelse and not isinstance(node.orelse[0], ast.If) and self.often():
            node.test = ast.UnaryOp(ast.Not(), node.test)
            node.body, node.orelse = node.orelse, node.body
        return node


def _attribute(module: str, name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name(module, ast.Load()), name)


def copied(source: str, exercises: set[str], seed: int) -> str:
    """Return a disguised copy: different names, order and layout, no comments."""
    tree = ast.parse(source)
    draw = random.Random(seed)
    own = {n.name for n in tree.body if isinstance(n, Definition)} - exercises
    names = {name: f"my_{n}" for n, name in enumerate(sorted(own))}
    head = [n for n in tree.body if not isinstance(n, Definition)]
    definitions = [_Renamed(names).visit(n) for n in tree.body if isinstance(n, Definition)]
    draw.shuffle(definitions)
    imports = [n for n in head if isinstance(n, ast.Import | ast.ImportFrom)]
    rest = [_Renamed(names).visit(n) for n in head if n not in imports]
    return ast.unparse(ast.Module([*imports, *definitions, *rest], []))


class _Renamed(ast.NodeTransformer):
    """Rename all local variables; parameters and functions keep their names."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        stored = {
            n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        new = {name: f"own_{name[::-1]}" for name in sorted(stored)}
        inner = _Renamed(self.names | new)
        node.name = self.names.get(node.name, node.name)
        if ast.get_docstring(node) is not None and len(node.body) > 1:
            node.body = node.body[1:]
        node.body = [inner.visit(n) for n in node.body]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.names.get(node.id, node.id)
        return node
