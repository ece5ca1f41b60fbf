"""Execute requests: import a submission's module, call its functions and encode the results."""

import gc
import importlib.util
import mmap
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch
from torch import nn

from .monitor.call_hooks import CallHooks
from .monitor.function_hooks import function_mode, hooked_patterns
from .monitor.import_guard import StudentImports
from .monitor.numpy_allocations import trim_memory
from .monitor.operator_hooks import Watcher
from .monitor.side_effects import Before, seed_random
from .protocol import frames
from .protocol.values import TORCH_NAMES, Decoder, Encoder
from .remote_stub import install_stubs
from .reporting import CapturedOutput, described, stopped_import
from .stop_location import interrupted_after
from .stub_call import Ask
from .torch_support import devices, fake_device
from .torch_support.builders import build, is_injected, module_of
from .torch_support.figure_reader import describe
from .torch_support.parameters import float_parameters, pulled_back, settle, shares_memory
from .triton_support import interpreter
from .triton_support.launch_trace import may_launch

_TOUCHED = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_POPULATE", 0)
# Common result types that cannot be drawings. `describe` is skipped for these types.
_NO_DRAWING = {torch.Tensor, np.ndarray, tuple, dict, str, int, float, bool, type(None)}


class Executor:
    """Executes requests for one submission.

    root:    the submission's folder
    objects: objects that stay in this process; a request refers to an object by its index
    imports: creates loaders for the submission's files, or None if imports are not restricted
    ask:     sends a stub's call to the trusted process, or None if stubs are not supported
    """

    def __init__(self) -> None:
        self.root = Path()
        self.watcher = Watcher()
        self._function_mode = function_mode(self.watcher.note)
        self.module: Any = None
        self.objects: list[Any] = []
        self._printed = CapturedOutput()  # output of the current request
        self._launches = False  # whether the module may launch Triton kernels
        self.imports: StudentImports | None = None
        self.ask: Ask | None = None
        self._ballast: mmap.mmap | None = None
        self._imported = 0  # number of modules in sys.modules before the submission's import

    def answer(self, request: frames.Answered, buffers: list[memoryview]) -> bytes:
        """Execute a request and return the reply frame."""
        self._printed = printed = CapturedOutput()
        encoder = Encoder(keep=self._keep)
        with redirect_stdout(printed), redirect_stderr(printed):
            if isinstance(request, frames.Load):
                reply = self._load(request, buffers)
            elif isinstance(request, frames.Fill):
                reply = self._fill(request.bytes)
            else:
                reply = self._call(request, buffers, encoder)
        if text := CapturedOutput.text(printed):  # the submission may have patched `printed.text`
            reply = msgspec.structs.replace(reply, printed=text)
        return frames.pack(reply, encoder.buffers)

    # Loading

    def _load(self, request: frames.Load, buffers: list[memoryview]) -> frames.Reply:
        for name, index in zip(request.names, request.files, strict=True):
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(buffers[index])
        if self.imports is not None:
            self.imports.add_files(request.names)
        reply = self.load_module(self.root / request.module, seconds=request.seconds)
        if request.stubs and self.ask is not None and self.module is not None:
            install_stubs(self.module, request.stubs, self.ask)
        return reply

    def load_module(self, path: Path, unique: bool = False, seconds: float = 0.0) -> frames.Reply:
        """Import the submission's module from `path`; definitions before an error remain usable.

        unique:  give the module a unique name and do not extend sys.path, because this process
                 imports several versions of the module
        seconds: processor time after which the import is interrupted, or 0 for no limit

        Returns a reply with status "ok", "raised", or "missing" if the file has no loader.
        """
        self.root = path.parent
        name = f"{path.stem}_{id(self):x}" if unique else path.stem
        if not unique and str(self.root) not in sys.path:
            sys.path.append(str(self.root))  # at the end: installed packages take precedence
        loader = self.imports.loader(name, str(path)) if self.imports is not None else None
        spec = importlib.util.spec_from_file_location(name, path, loader=loader)
        if spec is None or spec.loader is None:
            return frames.Reply("missing")
        self.module = importlib.util.module_from_spec(spec)
        sys.modules[name] = self.module
        self._imported = len(sys.modules)
        self.watcher.begin(hooked_patterns(), str(self.root), importing=True)
        try:
            with interrupted_after(seconds):
                spec.loader.exec_module(self.module)
        except BaseException as error:  # a submission may raise SystemExit
            return frames.Reply("raised", raised=stopped_import(error, str(self.root)))
        finally:
            self.watcher.begin((), str(self.root))
            self._launches = interpreter.is_ready() and may_launch(self.module)
        return frames.Reply("ok")

    def _fill(self, size: int) -> frames.Reply:
        """Return unused memory to the system, then hold `size` bytes until the next test.

        The reply's value is True if modules were imported since the submission's import began.
        """
        self._ballast = None
        trim_memory()
        if size:
            self._ballast = mmap.mmap(-1, size, flags=_TOUCHED)
        return frames.Reply("ok", value=len(sys.modules) > self._imported)

    # Calling

    def _call(
        self, request: frames.Call, buffers: list[memoryview], encoder: Encoder
    ) -> frames.Reply:
        """Make a call, with hooks active until its result has been encoded.

        The submission's code may run in any step: in a property, in a patched method of torch, or
        when a lazy value is computed. Every exception is therefore attributed to the submission.
        """
        self.watcher.begin(request.not_allowed, str(self.root))
        try:
            with fake_device.present(request.device == devices.FAKE):
                reply = self._prepare_and_run(request, buffers, encoder)
            banned = tuple(self.watcher.seen)
        except BaseException as error:
            if devices.is_lost(request.device):
                os.abort()  # every later call would fail here, but a new process can use the GPU
            encoder.buffers.clear()
            reply = frames.Reply("raised", raised=described(error, str(self.root)))
            banned = tuple(self.watcher.seen)
        finally:
            self.watcher.begin((), str(self.root))
        return msgspec.structs.replace(reply, banned=banned) if banned else reply

    def _prepare_and_run(
        self, request: frames.Call, buffers: list[memoryview], encoder: Encoder
    ) -> frames.Reply:
        if request.fresh:
            self._reset()
        target = self._target(request)
        if target is None:
            return frames.Reply("missing")
        if request.fetch:
            return frames.Reply("ok", value=encoder(target))
        inputs: list[torch.Tensor] = []
        decoder = self._decoder(request, buffers, inputs)
        args = [decoder(v) for v in request.args]
        kwargs = {k: decoder(v) for k, v in request.kwargs.items()}
        before = Before(inputs, args, kwargs)
        hooks = CallHooks(request, inputs, str(self.root), self._launches, self._function_mode)
        with hooks:
            drawing = devices.generator_check(request.device, (*args, *kwargs.values()))
            with hooks.forbidding, hooks.counting, drawing:
                result = target(*args, **kwargs)
            hooks.keep(result)
            if request.construct and isinstance(result, nn.Module):
                mismatch = settle(result, request, buffers)
                if mismatch is not None:
                    return frames.Reply("state", mismatch=mismatch)
            with hooks.counting:
                gradients: tuple[frames.Value, ...] | None = None
                detached: tuple[int, ...] = ()
                if request.cotangents is not None:
                    owner = self.objects[request.handle] if request.handle is not None else None
                    inputs += float_parameters(owner) if isinstance(owner, nn.Module) else []
                    gradients, detached = pulled_back(result, request, inputs, decoder, encoder)
            devices.finish(request.device)
            value = self._encode_result(result, encoder)
        side_effects = before.compare(result)
        if isinstance(result, nn.Module) and shares_memory(result, args):
            side_effects += (frames.SideEffect(frames.Effect.SHARED_MEMORY),)
        counts = hooks.counts(result)
        if request.printing:
            value = frames.SeqV("tuple", (value, encoder(CapturedOutput.text(self._printed))))
        return frames.Reply(
            "ok",
            value=value,
            gradients=gradients,
            detached=detached,
            side_effects=side_effects,
            counts=counts,
        )

    def _target(self, request: frames.Call) -> Any:
        """Return the requested attribute, or None if it does not exist."""
        target: Any = self.module
        if request.brought:
            target = module_of(request.brought)
            target.submission = self.module
        if request.handle is not None:
            is_known = 0 <= request.handle < len(self.objects)
            target = self.objects[request.handle] if is_known else None
        for name in filter(None, request.path.split(".")):
            target = getattr(target, name, None) if target is not None else None
        return target

    def _reset(self) -> None:
        had_objects = bool(self.objects)
        self.objects.clear()
        self._ballast = None
        if torch.get_default_dtype() is not torch.float32:  # setting the default dtype is slow
            torch.set_default_dtype(torch.float32)
        if not torch.is_grad_enabled():
            torch.set_grad_enabled(True)
        seed_random()
        if torch.cuda.is_initialized():
            devices.compute_exactly()
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is not None and (had_objects or pyplot.get_fignums()):
            pyplot.close("all")
            gc.collect(0)  # figures contain reference cycles

    def _decoder(
        self, request: frames.Call, buffers: list[memoryview], leaves: list[torch.Tensor]
    ) -> Decoder:
        def placed(x: torch.Tensor) -> torch.Tensor:
            wanted = x.requires_grad or (pulls and x.is_floating_point())
            x = devices.place(x.detach(), device)
            if wanted:
                x.requires_grad_()
            leaves.append(x)
            return x

        device, pulls = request.device, request.cotangents is not None

        return Decoder(
            buffers,
            special=lambda v, d: self._special(v, d, request),
            tensor=placed,
            gradients=True,
        )

    def _special(self, value: frames.Value, decoder: Decoder, request: frames.Call) -> Any:
        """Build the argument that a `SpecialV` describes, or look up the object of a `HandleV`."""
        if isinstance(value, frames.HandleV):
            return self.objects[value.id]
        assert isinstance(value, frames.SpecialV)
        if value.kind == "axes":
            from matplotlib.figure import Figure

            axes = Figure().subplots()
            self.objects.append(axes)
            return axes
        return build(value.kind, decoder(value.value), request.device)

    # Describing

    def _encode_result(self, result: Any, encoder: Encoder) -> frames.Value:
        if type(result) not in _NO_DRAWING and "matplotlib" in sys.modules:
            drawn = describe(result, encoder, self.objects)
            if drawn is not None:
                return drawn
        return encoder(result)

    def _keep(self, thing: object) -> frames.Value | None:
        """Return a handle for a module or an object of a submitted or injected class, or None."""
        kind = type(thing)
        file = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
        stays = isinstance(thing, nn.Module) or is_injected(kind)
        if not stays and not file.startswith(str(self.root)):
            return None
        state = None
        if isinstance(thing, nn.Module):
            try:
                entries = dict(thing.state_dict())
            except Exception:  # a submission may override `state_dict`
                entries = {}
            state = {k: (TORCH_NAMES.get(v.dtype, "?"), tuple(v.shape)) for k, v in entries.items()}
        for index, known in enumerate(self.objects):
            if known is thing:
                return frames.HandleV(index, kind.__name__[:200], state)
        self.objects.append(thing)
        return frames.HandleV(len(self.objects) - 1, kind.__name__[:200], state)
