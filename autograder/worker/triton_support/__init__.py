"""Run Triton kernels on a CPU and record their accesses.

Kernels run in Triton's interpreter, inside the submission's process. `interpreter` replaces some of
its methods: every load and store is checked before memory is touched. `launch_trace` records
launches and their accesses, and `races` finds data races. `provenance` finds operators that compute
with values around the kernels, and `compile_check` asks Triton's compiler whether a GPU would
accept a kernel. A submission can falsify all of these records, but no address outside of a launch's
tensors is read or written by accident. Start with `interpreter`.
"""

__all__ = ["compile_check", "interpreter", "launch_trace", "provenance", "races"]
