"""Build arguments that a hidden test describes as plain data, such as modules and models."""

import math
import os
import types
from functools import lru_cache
from importlib import import_module  # extras may not be installed, even for type checking
from typing import Any

import numpy as np
import torch
from torch import nn

from ..monitor.function_hooks import original_ufuncs
from ..protocol.values import TORCH_DTYPES
from ..triton_support import interpreter
from . import devices

_NAME = "brought by the grader"


@lru_cache(maxsize=8)
def module_of(source: str) -> types.ModuleType:
    """Execute a module's source code and return the module, which is cached by its source code."""
    module = types.ModuleType(_NAME)
    # `dont_inherit` ensures that annotations are not strings, which dataclasses could not look up
    code = compile(source, f"<{_NAME}>", "exec", dont_inherit=True)
    exec(code, module.__dict__)
    return module


def is_injected(kind: type) -> bool:
    """Return True if the class is defined in an injected module (see `module_of`)."""
    return kind.__module__ == _NAME


def build(kind: str, content: Any, device: str) -> Any:
    """Build the object that a `SpecialV` with this kind and content describes."""
    match kind:
        case "device":
            return devices.torch_device(content)
        case "dtype":
            return TORCH_DTYPES[content]
        case "once":
            return iter(content)
        case "slice":
            return slice(*content)
        case "generator":
            where = devices.torch_device(device)  # also registers the fake GPU for torch.Generator
            return torch.Generator(where).manual_seed(content)
        case "torch_mha":
            return _torch_mha(content, device)
        case "hf_encoder":
            return _hf_encoder(content, device)
        case "expression":
            names = {"torch": torch, "np": np, "math": math}
            return eval(compile(content, "<argument>", "eval"), names)  # written in a hidden test
    raise ValueError(f"no such argument: {kind}")


@original_ufuncs()
def warm(extra: str) -> None:
    """Import an extra's packages and use them once, before the first call.

    Keras reads its backend and device from environment variables when it is imported, and moves
    every tensor to a GPU by default. Importing Keras during a call would also draw from Python's
    random generator, which would be reported as a side effect of the call.
    """
    if extra == "keras":
        os.environ.setdefault("KERAS_BACKEND", "torch")
        os.environ.setdefault("KERAS_TORCH_DEVICE", "cpu")
        ops = import_module("keras").ops
        ops.softmax(ops.matmul(torch.ones(2, 2), torch.ones(2, 2)))
    elif extra == "triton":
        interpreter.setup()
    elif extra == "text":
        import_module("transformers").logging.set_verbosity_error()
        tiny = {"seed": 0, "layers": 1, "heads": 1, "hidden": 4, "vocabulary": ["a"]}
        tiny |= {"training": False, "attention": "eager", "dtype": "float32"}
        tokenizer = _hf_encoder(tiny | {"part": "tokenizer"}, "cpu")
        _hf_encoder(tiny | {"part": "model"}, "cpu")(**tokenizer("a", return_tensors="pt"))


def _torch_mha(content: dict[str, Any], device: str) -> nn.MultiheadAttention:
    state = content["state"]
    dtype = next(iter(state.values())).dtype
    sizes, bias = (content["embed_dim"], content["num_heads"]), content["bias"]
    with torch.random.fork_rng(devices=[]):
        module = nn.MultiheadAttention(*sizes, bias=bias, batch_first=True)
    devices.move_module(module, device, dtype)
    module.load_state_dict(state)
    return module


def _hf_encoder(content: dict[str, Any], device: str) -> Any:
    """Build a small BERT with random weights, or its tokenizer, without disk or network access."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    transformers: Any = import_module("transformers")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *content["vocabulary"]]
    if content["part"] == "tokenizer":
        numbers = {word: number for number, word in enumerate(words)}
        return transformers.BertTokenizer(numbers, mask_token=None)
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=content["hidden"],
        num_hidden_layers=content["layers"],
        num_attention_heads=content["heads"],
        intermediate_size=2 * content["hidden"],
        max_position_embeddings=64,
        attn_implementation=content["attention"],
    )
    # Skip Transformers' own weight initialisation, which would take half of the construction time.
    undrawn = import_module("transformers.initialization").no_init_weights
    with torch.random.fork_rng(devices=[]), undrawn():
        model = transformers.BertModel(config, add_pooling_layer=False).eval()
    draw_weights(model, content["seed"])
    devices.move_module(model, device, getattr(torch, content["dtype"]))
    return model.train() if content["training"] else model


_STD = 0.4  # large enough to make attention weights far from uniform


@torch.no_grad()
def draw_weights(model: nn.Module, seed: int) -> None:
    """Draw normally distributed weights; set biases and padding to 0, LayerNorm weights to 1."""
    generator = torch.Generator().manual_seed(seed)
    for part in model.modules():
        for name, parameter in part.named_parameters(recurse=False):
            if isinstance(part, nn.LayerNorm):
                parameter.fill_(float(name == "weight"))
            elif name == "bias":
                parameter.zero_()
            else:
                parameter.normal_(0.0, _STD, generator=generator)
                if (padding := getattr(part, "padding_idx", None)) is not None:
                    parameter[padding].zero_()
