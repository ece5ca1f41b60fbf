"""Code that runs in place of parts of a submission.

`remote_stub` replaces wrong exercises by stubs that call a correct implementation in the trusted
process; `module_stub` does the same for classes of torch modules, and `stub_call` makes the calls.
`injected_module` runs a small module that a hidden test supplies. All of it shares a process
with the submission, so it contains neither solutions nor expected values. Start with
`remote_stub`.
"""

__all__ = ["injected_module", "module_stub", "remote_stub", "stub_call"]
