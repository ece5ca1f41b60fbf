"""Hooks that observe a call: forbidden functions, work, side effects, and attempts to cheat.

The hooks are installed before any student code is imported, and report calls under any
name or alias. They share a process with the submission, so code that attacks the hooks
themselves can blind them: docs/threat-model.md says what is guaranteed.

`operator_hooks`, `function_hooks` and `numpy_allocations` report calls and count work;
`side_effects` compares global state before and after a call. `audit_hook` reports looks into the
grader, and `import_guard` restricts imports. Start with `call_hooks`, which combines the hooks of
one call.
"""

__all__ = [
    "audit_hook",
    "call_hooks",
    "function_hooks",
    "import_guard",
    "numpy_allocations",
    "operator_hooks",
    "side_effects",
]
