"""Write a sequence of calls as Python: short for reading, and complete for a notebook cell."""

import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from ...model.availability import CPU
from ...worker.monitor.side_effects import SEED
from ...worker.protocol.messages import Effect, SideEffect
from ..assertions.call_comparison import IN_A_ROW
from ..assertions.case import Special
from ..comparator import is_array
from ..disclosure.signatures import Signatures
from .answer_difference import AnswerDifference, Sides
from .call_cost import MOST_CHARACTERS
from .call_sequence import CELL_TEXTS, Made, Step, leaves_of
from .value_text import array_text, float_literal

_SEED = "generator = torch.Generator().manual_seed(0)\n"
_TO_GPU = '.to("cuda")'
_PRECISE = 4  # digits that torch and NumPy print by default


class Unwritable(Exception):
    """Raised if a call needs an argument or a helper that a notebook cell cannot make."""


class Script:
    """A sequence of calls as Python statements.

    call: the statements to read; the last is the expression whose value differs
    cell: the statements to run, with imports
    refused: the type of the exception that a call should raise, by the key of its step

    Raise Unwritable if a call needs code of the hidden tests, or if nobody would read the calls.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        found: AnswerDifference,
        sides: Sides,
        signatures: Signatures,
        module: str,
        is_random: bool,
        refused: Mapping[int, str],
    ) -> None:
        self._signatures, self._makers = signatures, {s.key: s for s in steps}
        self._objects: dict[int, str] = {}  # names of objects, by the step that made them
        self._arrays: dict[int, tuple[Any, str]] = {}  # arrays with names, by identity
        self._module = module
        self._imports: defaultdict[str, set[str]] = defaultdict(set)  # names by file
        self._lines: list[tuple[str, str]] = []
        used = set().union(*(s.uses for s in steps))
        for step in steps[:-1]:
            if step.key in used or step.fill or step.state or step.cotangents is not None:
                self._assign(step)
            elif step.key in refused:
                text, error = self._call(step), refused[step.key]
                cell = f"try:\n    {text}\nexcept {error}:\n    pass"
                self._add(f"{text}  # raises {error}", cell)
            else:
                self._add(self._call(step))
        self._last(steps[-1], found, sides.suffix)
        self.call = "\n".join(short for short, _ in self._lines)
        if len(self.call) > MOST_CHARACTERS:
            raise Unwritable("too many numbers")
        self.cell = self._complete(is_random, sides.digits > _PRECISE)

    @property
    def numbers(self) -> int:
        """How many numbers a reader of `call` must read."""
        tokens = tokenize.generate_tokens(io.StringIO(self.call).readline)
        return sum((t.type == tokenize.NUMBER) or t.string.startswith("# ") for t in tokens)

    # Statements

    def _add(self, short: str, full: str | None = None) -> None:
        self._lines.append((short, short if full is None else full))

    def _assign(self, step: Step) -> str:
        """Make a call, name its result, and set weights or run the backward pass."""
        path = (step.options.path or "result").rpartition(".")[2]
        words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*", path) if path[:1].isupper() else ()
        name = self._objects[step.key] = self._new_name(words[-1].lower() if words else "result")
        statement = f"{name} = {self._call(step)}"
        if step.fill is not None:
            pattern, seed = CELL_TEXTS["weights"][step.fill], _SEED if step.fill == "normal" else ""
            weights = f"for _, weight in sorted({name}.state_dict().items()):"
            values = f"    weight.copy_({pattern['values']})"
            short = f"{statement}  # {pattern['description']}"
            self._add(short, f"{statement}\n{seed}{weights}\n{values}")
        else:
            self._add(statement)
            if step.state:
                self._add(f"{name}.load_state_dict({self._value(step.state, step)})")
        given = step.cotangents
        if given is not None and len(given) == 1 and bool((given[0] == 1).all()):
            part = name if step.options.brought != IN_A_ROW else f"{name}[0]"
            self._add(f"{part}.sum().backward()")
        elif given is not None:
            in_pairs = step.options.brought == IN_A_ROW and len(given) >= len(step.args)
            parts = f"[y for ys in {name} for y in ys]" if in_pairs else name
            self._add(f"torch.autograd.backward({parts}, {self._value(given, step)})")
        return name

    def _new_name(self, base: str) -> str:
        taken = {*self._objects.values(), *(name for _, name in self._arrays.values())}
        return next(n for n in (base, *(f"{base}{i}" for i in range(2, 99))) if n not in taken)

    def _last(self, step: Step, found: AnswerDifference, suffix: str) -> None:
        if step.cotangents is not None or found.kind in ("argument", "detached"):
            self._name_arrays(step)
        if found.kind == "argument":
            self._add(self._call(step))
            shown = self._changed(step, *found.path)
        elif found.kind == "detached":
            shown = f"{self._assign(replace(step, cotangents=None))}{suffix}.requires_grad"
            suffix = ""
        elif step.cotangents is not None:
            shown = self._assign(step)
            if found.kind == "gradient":
                shown = f"{self._input(step, *found.path)}.grad"
        else:
            if found.kind == "state":
                step = replace(step, fill=None, state=None)
            named = step.fill or step.state or found.kind == "state"
            shown = self._assign(step) if named else self._call(step)
        if found.kind == "state":
            shown = f"{{name: x.shape for name, x in {shown}.state_dict().items()}}"
        self._add(f"{shown}{suffix}", f"print({shown}{suffix})")

    def _name_arrays(self, step: Step) -> None:
        names = self._signatures.arguments(path_of(step, self._makers))
        names = (*names, *(f"x{n}" for n in range(len(names), len(step.args))))
        pairs = [*zip(names, step.args, strict=False), *step.kwargs.items()]
        if step.options.brought == IN_A_ROW:
            pairs = [p for args in step.args[1:] for p in zip(names, args, strict=False)]
        for label, value in pairs:
            for x in leaves_of(value):
                if is_array(x) and id(x) not in self._arrays:
                    text, name = self._value(x, step), self._new_name(label)
                    is_float = isinstance(x, torch.Tensor) and x.is_floating_point()
                    needs_gradient = is_float and step.cotangents is not None
                    self._add(f"{name} = {text}{'.requires_grad_()' * needs_gradient}")
                    self._arrays[id(x)] = x, name

    def _input(self, step: Step, index: int) -> str:
        """Return the name of the input or parameter with this gradient."""
        floats = [x for x in step.arrays if isinstance(x, torch.Tensor)]
        floats = [x for x in floats if x.is_floating_point()]
        if index < len(floats):
            return self._arrays[id(floats[index])][1]
        state = self._makers[step.owner.step].state if step.owner is not None else None
        return f"{self._object(step.owner)}.{sorted(state or ())[index - len(floats)]}"

    def _changed(self, step: Step, effect: SideEffect) -> str:
        in_numpy = effect.effect is Effect.ARRAY
        arrays = [x for x in step.arrays if isinstance(x, torch.Tensor) != in_numpy]
        return self._arrays[id(arrays[effect.argument - 1])][1]

    # Expressions

    def _call(self, step: Step) -> str:
        path, options = step.options.path, step.options
        if options.brought == IN_A_ROW:
            name, *calls = step.args
            self._imports[self._module].add(name.partition(".")[0])
            texts = (", ".join(self._value(a, step) for a in args) for args in calls)
            return f"[{', '.join(f'{name}({text})' for text in texts)}]"
        given = [self._value(a, step) for a in step.args]
        given += [f"{k}={self._value(v, step)}" for k, v in step.kwargs.items()]
        if options.brought and not step.public_module:
            raise Unwritable("a helper of the hidden tests")
        if step.owner is None:
            self._imports[step.public_module or self._module].add(path.partition(".")[0])
        owner = "" if step.owner is None else self._object(step.owner)
        if path == "__setattr__":
            return f"{owner}.{step.args[0]} = {given[1]}"
        if owner and path in CELL_TEXTS["operators"]:
            return str(CELL_TEXTS["operators"][path]).format(owner, *given)
        called = ".".join(part for part in (owner, path) if part)
        text = called if options.fetch else f"{called}({', '.join(given)})"
        if options.construct and step.state is not None:
            text += "" if options.dtype in (None, "float32") else f".to(torch.{options.dtype})"
            text += "" if options.device == CPU else _TO_GPU
        return text

    def _object(self, made: Made | None) -> str:
        if made is None or made.step not in self._objects:
            raise Unwritable("an object without a name")
        return self._objects[made.step]

    def _value(self, value: Any, step: Step) -> str:
        if id(value) in self._arrays:
            return self._arrays[id(value)][1]
        if isinstance(value, Made):
            return self._object(value)
        if is_array(value):
            moved = step.options.device != CPU and isinstance(value, torch.Tensor)
            return array_text(value) + (_TO_GPU if moved else "")
        if isinstance(value, Special):
            return self._special(value, step)
        if isinstance(value, (list, tuple)):
            inner = ", ".join(self._value(v, step) for v in value)
            return (
                f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
            )
        if isinstance(value, dict):
            return f"{{{', '.join(f'{k!r}: {self._value(v, step)}' for k, v in value.items())}}}"
        return float_literal(value) if isinstance(value, float) else repr(value)

    def _special(self, special: Special, step: Step) -> str:
        on_gpu, value = step.options.device != CPU, special.value
        match special.kind:
            case "device":
                return '"cpu"' if value == CPU else '"cuda"'
            case "dtype":
                return f"torch.{value}"
            case "axes":
                return "plt.figure().subplots()"
            case "generator":
                where = '"cuda"' if on_gpu else ""
                return f"torch.Generator({where}).manual_seed({value})"
            case "once":
                return f"iter({self._value(value, step)})"
            case "slice":
                return f"slice({', '.join(map(repr, value))})"
            case "expression":
                return f"({value})"
            case "torch_mha":
                return self._torch_module(value, step)
            case "hf_encoder" if value["part"] == "model":
                return self._encoder(value, step)
            case "hf_encoder":
                return "BertTokenizer({word: n for n, word in enumerate(words)}, mask_token=None)"
        raise Unwritable(special.kind)

    def _torch_module(self, content: dict[str, Any], step: Step) -> str:
        name, bias = self._new_name("module"), "" if content["bias"] else ", bias=False"
        sizes = f"{content['embed_dim']}, {content['num_heads']}"
        dtype = next(iter(content["state"].values())).dtype
        bias += "" if dtype == torch.float32 else f", dtype={dtype}"
        self._add(f"{name} = torch.nn.MultiheadAttention({sizes}, batch_first=True{bias})")
        self._add(f"{name}.load_state_dict({self._value(content['state'], step)})")
        self._objects[-len(self._objects) - 1] = name
        return name

    def _encoder(self, content: dict[str, Any], step: Step) -> str:
        name = self._new_name("model")
        moved = "" if content["dtype"] == "float32" else f".to(torch.{content['dtype']})"
        moved += "" if step.options.device == CPU else _TO_GPU
        given = {
            "words": ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *content["vocabulary"]],
            "mode": "train" if content["training"] else "eval",
            "inner": 2 * content["hidden"],
        }
        made, short, full = (
            text.format(name=name, moved=moved, **content, **given)
            for text in CELL_TEXTS["encoder"].values()
        )
        self._add(f"{made}{short}", f"{made}{full}" + (f"\n{name}{moved}" if moved else ""))
        self._objects[-len(self._objects) - 1] = name
        return name

    # Cell

    def _complete(self, is_random: bool, is_precise: bool) -> str:
        text = "\n".join(full for _, full in self._lines)
        lines = [
            "import math" if "math." in text else "",
            "import matplotlib.pyplot as plt" if "plt." in text else "",
            "import numpy as np" if "np." in text or is_precise else "",
            "from transformers import BertConfig, BertModel, BertTokenizer" * ("Bert" in text),
            "import torch" if "torch." in text or is_random or is_precise else "",
        ]
        for module, names in sorted(self._imports.items()):
            if names := names - {"torch"}:
                lines.append(f"from {module.removesuffix('.py')} import {', '.join(sorted(names))}")
        if '"cuda"' in text:
            text = CELL_TEXTS["gpu"] + text.replace('"cuda"', "device")
        if is_precise:
            lines.append("torch.set_printoptions(precision=9), np.set_printoptions(precision=9)")
        lines += [f"torch.manual_seed({SEED})"] * is_random
        return "\n".join([*filter(None, lines), "", text])


def path_of(step: Step, makers: dict[int, Step]) -> str:
    """Return the name of the function that a step calls, with the class of its object."""
    if step.options.brought == IN_A_ROW:
        return str(step.args[0])
    owner = makers[step.owner.step].options.path if step.owner is not None else ""
    return ".".join(part for part in (owner, step.options.path) if part)
