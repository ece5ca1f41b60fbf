"""Write a sequence of calls as Python: short for reading, and complete for a notebook cell."""

from __future__ import annotations

import io
import re
import textwrap
import tokenize
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from ...model.availability import CPU
from ...repair import without_unused_definitions
from ...worker.protocol.messages import Effect, SideEffect
from ..assertions.call_comparison import IN_A_ROW
from ..assertions.case import Special
from ..comparator import is_array
from ..disclosure.signatures import Signatures
from .answer_difference import AnswerDifference
from .call_sequence import Made, Step, leaves_of
from .value_text import array_text, float_literal

_WIDTH = 100
_PATTERNS = {
    "ones": ("every weight is 1", "weight.fill_(1)"),
    "eye": (
        "matrices with 1 on the diagonal, vectors of 1",
        "weight.copy_(torch.eye(*weight.shape) if weight.ndim == 2 else torch.ones_like(weight))",
    ),
    "counted": (
        "weights 0, 1, 2, 0, 1, …",
        "weight.copy_((torch.arange(weight.numel()) % 3).view(weight.shape))",
    ),
    "normal": (
        "weights drawn with seed 0",
        "weight.copy_(torch.randn(weight.shape, generator=generator))",
    ),
}
_SEED = "generator = torch.Generator().manual_seed(0)\n"
_GPU = 'device = "cuda" if torch.cuda.is_available() else "meta"  # "meta" only checks devices'
_OPERATORS = {"__setitem__": "{0}[{1}] = {2}", "__getitem__": "{0}[{1}]", "__len__": "len({0})", "__contains__": "{1} in {0}"}


class Unwritable(Exception):
    """Raised if a call has an argument that a notebook cell cannot make."""


class Script:
    """A sequence of calls as Python statements.

    call: the statements to read; the last is the expression whose value differs
    cell: the statements to run, with imports
    is_random: whether the calls draw random numbers, so that the cell sets the seed
    """

    def __init__(
        self,
        steps: Sequence[Step],
        found: AnswerDifference,
        module: str,
        signatures: Signatures,
        is_random: bool = False,
    ) -> None:
        self._steps, self._found, self._signatures = steps, found, signatures
        self._names: dict[Made, str] = {}
        self._variables: dict[int, tuple[Any, str]] = {}  # hoisted arrays by identity
        self._imports: set[str] = set()
        self._sources: dict[str, set[str]] = {}
        self._short: list[str] = []
        self._full: list[str] = []
        self._used = set().union(*(s.uses for s in steps))
        if is_random:
            self._full.append("torch.manual_seed(0)")
        for step in steps[:-1]:
            self._earlier(step)
        self._last(steps[-1])
        self.call = "\n".join(self._short)
        self.cell = "\n".join([*self._header(module), *self._full])

    @property
    def numbers(self) -> int:
        """How many numbers a reader of the call must read."""
        return count_numbers(self.call)

    @property
    def path_of_last(self) -> str:
        """The name of the last call, with the class of its object."""
        return self._path(self._steps[-1])

    @property
    def inputs_of_last(self) -> list[str]:
        """The names of the last call's inputs that have gradients."""
        count = len(float_inputs(self._steps[-1])) + 99
        names = []
        for index in range(count if self._found.kind == "gradient" else 0):
            try:
                names.append(self._input(self._steps[-1], index))
            except Unwritable:
                break
        return names

    # Statements

    def _add(self, line: str, full: str | None = None) -> None:
        self._short.append(line)
        self._full.append(line.replace('.to("cuda")', ".to(device)") if full is None else full)

    def _earlier(self, step: Step) -> None:
        call = self._expression(step)
        if step.key in self._used or step.cotangents is not None:
            name = self._assign(step, call)
            if step.cotangents is not None:
                self._backward(name, step)
        elif step.fill is None and not step.options.fetch:
            self._add(call)
        else:
            self._assign(step, call)

    def _assign(self, step: Step, call: str) -> str:
        name = self._new_name(step)
        self._names[Made(step.key)] = name
        pattern = _PATTERNS.get(step.fill or "")
        if pattern is not None:
            self._short.append(f"{name} = {call}  # {pattern[0]}")
            self._full.append(f"{name} = {call}".replace('.to("cuda")', ".to(device)"))
            seed = _SEED if step.fill == "normal" else ""
            weights = f"for _, weight in sorted({name}.state_dict().items()):"
            self._full.append(f"{seed}{weights}\n    {pattern[1]}")
            self._imports.add("torch")
        else:
            self._add(f"{name} = {call}")
            if step.state:
                state = ", ".join(f"{k!r}: {self._value(v)}" for k, v in step.state.items())
                self._add(f"{name}.load_state_dict({{{state}}})")
        return name

    def _new_name(self, step: Step) -> str:
        last = (step.options.path or "result").rpartition(".")[2]
        words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*", last)
        base = words[-1].lower() if last[:1].isupper() and words else "result"
        taken = {*self._names.values(), *(name for _, name in self._variables.values())}
        return next(n for n in (base, *(f"{base}{i}" for i in range(2, 99))) if n not in taken)

    def _last(self, step: Step) -> None:
        kind = self._found.kind
        if kind == "gradient":
            self._hoist(step)
            name = self._assign(step, self._expression(step))
            self._backward(name, step)
            self._show(self._input(step, self._found.path[0]) + ".grad")
            return
        if kind == "argument":
            self._hoist(step)
            self._add(self._expression(step))
            (effect,) = self._found.path
            self._show(self._changed(step, effect))
            return
        call = self._expression(step)
        if step.fill is not None or step.state:
            name = self._assign(step, call)
            self._show(name if step.key not in self._used else name)
        else:
            self._show(call)

    def _show(self, expression: str) -> None:
        full = expression.replace('.to("cuda")', ".to(device)")
        self._add(expression, f"print({full})")

    def _backward(self, name: str, step: Step) -> None:
        given = [c for c in step.cotangents or ()]
        if len(given) == 1 and not self._in_a_row(step) and bool((given[0] == 1).all()):
            self._add(f"{name}.sum().backward()")
        elif len(given) == 1 and not self._in_a_row(step):
            self._add(f"{name}.backward({self._value(given[0], step)})")
        else:
            texts = ", ".join(self._value(c, step) for c in given)
            self._imports.add("torch")
            self._add(f"torch.autograd.backward({name}, [{texts}])")

    def _hoist(self, step: Step) -> None:
        """Give a name to each array in the arguments."""
        names = self._signatures.arguments(self._path(step))
        labels = [*names, *(f"x{n}" for n in range(len(names), len(step.args)))]
        pairs = [*zip(labels, step.args, strict=False), *step.kwargs.items()]
        if self._in_a_row(step):
            pairs = [p for args in step.args[1:] for p in zip(names, args, strict=False)]
        for label, value in pairs:
            arrays = [x for x in leaves_of(value) if is_array(x)]
            for number, x in enumerate(arrays):
                if id(x) not in self._variables:
                    taken = {name for _, name in self._variables.values()}
                    name = label if len(arrays) == 1 else f"{label}{number + 1}"
                    name = next(n for n in (name, *(f"{name}{i}" for i in range(2, 99))) if n not in taken)
                    text = self._value(x, step)
                    floats = isinstance(x, torch.Tensor) and x.is_floating_point()
                    if step.cotangents is not None and floats:
                        text += ".requires_grad_()"
                    self._add(f"{name} = {text}")
                    self._variables[id(x)] = x, name

    def _input(self, step: Step, index: int) -> str:
        floats = float_inputs(step)
        if index < len(floats):
            return self._variables[id(floats[index])][1]
        owner = next((s for s in self._steps if step.owner and s.key == step.owner.step), None)
        names = sorted(owner.state or ()) if owner else []
        number = index - len(floats)
        if step.owner is None or number >= len(names):
            raise Unwritable("a parameter without a name")
        return f"{self._names[step.owner]}.{names[number]}"

    def _changed(self, step: Step, effect: SideEffect) -> str:
        wanted = torch.Tensor if effect.effect is not Effect.ARRAY else object
        arrays = [x for x in distinct_arrays(step) if isinstance(x, wanted)]
        if wanted is object:
            arrays = [x for x in arrays if not isinstance(x, torch.Tensor)]
        if not 0 < effect.argument <= len(arrays):
            raise Unwritable("an argument without a name")
        return self._variables[id(arrays[effect.argument - 1])][1]

    # Expressions

    def _path(self, step: Step) -> str:
        return str(step.args[0]) if self._in_a_row(step) else self._qualified(step)

    def _qualified(self, step: Step) -> str:
        maker = next((s for s in self._steps if step.owner and s.key == step.owner.step), None)
        owner = maker.options.path if maker is not None else ""
        return ".".join(part for part in (owner, step.options.path) if part)

    def _in_a_row(self, step: Step) -> bool:
        return step.options.brought == IN_A_ROW

    def _expression(self, step: Step) -> str:
        path, options = step.options.path, step.options
        if self._in_a_row(step):
            name, *calls = step.args
            self._imports.add(name.partition(".")[0])
            each = (f"{name}({', '.join(self._value(a, step) for a in args)})" for args in calls)
            return f"[{', '.join(each)}]"
        if options.brought:
            self._sources.setdefault(options.brought, set()).add(path.partition(".")[0])
        given = [*(self._value(a, step) for a in step.args)]
        given += [f"{k}={self._value(v, step)}" for k, v in step.kwargs.items()]
        if step.owner is None:
            if not options.brought:
                self._imports.add(path.partition(".")[0])
            called = path
        else:
            owner = self._object(step.owner)
            if path == "__setattr__":
                return f"{owner}.{step.args[0]} = {given[1]}"
            if path in _OPERATORS:
                return _OPERATORS[path].format(owner, *given)
            called = f"{owner}.{path}" if path else owner
        if options.fetch:
            return called
        text = f"{called}({', '.join(given)})"
        if options.construct:
            if options.dtype not in (None, "float32") and step.state is not None:
                text += f".to(torch.{options.dtype})"
            if options.device != CPU and step.state is not None:
                text += '.to("cuda")'
        return text

    def _object(self, made: Made) -> str:
        name = self._names.get(Made(made.step))
        if name is None:
            raise Unwritable("an object without a name")
        return name

    def _value(self, value: Any, step: Step | None = None) -> str:
        if id(value) in self._variables:
            return self._variables[id(value)][1]
        if isinstance(value, Made):
            return self._object(value)
        if is_array(value):
            text = array_text(value)
            moved = step is not None and step.options.device != CPU
            return f'{text}.to("cuda")' if moved and isinstance(value, torch.Tensor) else text
        if isinstance(value, Special):
            return self._special(value, step)
        if isinstance(value, (list, tuple)):
            inner = ", ".join(self._value(v, step) for v in value)
            return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
        if isinstance(value, dict):
            pairs = (f"{k!r}: {self._value(v, step)}" for k, v in value.items())
            return f"{{{', '.join(pairs)}}}"
        return float_literal(value) if isinstance(value, float) else repr(value)

    def _special(self, value: Special, step: Step | None) -> str:
        on_gpu = step is not None and step.options.device != CPU
        match value.kind:
            case "device":
                return '"cuda"' if value.value != CPU else '"cpu"'
            case "dtype":
                return f"torch.{value.value}"
            case "axes":
                self._imports.add("plt")
                return "plt.figure().subplots()"
            case "generator":
                where = '"cuda"' if on_gpu else ""
                return f"torch.Generator({where}).manual_seed({value.value})"
            case "once":
                return f"iter({self._value(value.value, step)})"
            case "slice":
                return f"slice({', '.join(map(repr, value.value))})"
            case "expression":
                return f"({value.value})"
        raise Unwritable(value.kind)

    # Cell

    def _header(self, module: str) -> list[str]:
        text = "\n".join(self._full)
        lines = ["import math"] if "math." in text else []
        lines += ["import matplotlib.pyplot as plt"] if "plt." in text else []
        lines += ["import numpy as np"] if "np." in text else []
        lines += ["import torch"] if "torch." in text or "device" in text else []
        names = sorted(self._imports - {"torch", "plt"})
        if names:
            lines.append(f"from {module.removesuffix('.py')} import {', '.join(names)}")
        lines.append("")
        for source, used in self._sources.items():
            kept = without_unused_definitions(source, used).decode()
            lines += [textwrap.dedent(kept).strip(), ""]
        if ".to(device)" in text or '"cuda"' in text:
            self._full = [line.replace('"cuda"', "device") for line in self._full]
            lines.append(_GPU)
        return lines


def float_inputs(step: Step) -> list[torch.Tensor]:
    """Return the tensors of a call that have gradients, in the order of the gradients."""
    return [x for x in distinct_arrays(step) if isinstance(x, torch.Tensor) and x.is_floating_point()]


def distinct_arrays(step: Step) -> list[Any]:
    """Return the arrays in the arguments of a call, each once."""
    arrays = (x for x in leaves_of((step.args, step.kwargs)) if is_array(x))
    return list({id(x): x for x in arrays}.values())


def count_numbers(text: str) -> int:
    """Count the numbers in Python source code, including those in comments."""
    tokens: Iterable[tokenize.TokenInfo] = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(
        1 if t.type == tokenize.NUMBER else t.string.count(" 1") * (t.type == tokenize.COMMENT)
        for t in tokens
    )
