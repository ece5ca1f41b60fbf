"""Hooks that monitor a call for forbidden functions, cost, side effects and attempts to cheat.

The hooks are installed before any student code is imported, and report calls under any name or
alias. Because the hooks run in the submission's process, malicious code can disable them. See
docs/threat-model.md for the guarantees.

`operator_hooks` and `function_hooks` report calls, `numpy_allocations` counts memory, and
`side_effects` compares arguments and global state before and after a call. `audit_hook` reports
attempts to inspect the grader, and `import_guard` restricts imports. Start with `call_hooks`, which
combines the hooks for one call.
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
