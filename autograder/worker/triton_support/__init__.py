"""Run Triton kernels on a CPU and see what they do.

Kernels run in Triton's interpreter, inside the submission's process. `interpreter` replaces some of
its methods: every load and store is checked before memory is touched. `launch_trace` records the
accesses of one launch and `races` finds those that no order protects. `provenance` finds what a
wrapper does with values around its kernels, and `compile_check` asks Triton's compiler whether a
GPU would take a kernel. Nothing here is trusted: a submission can falsify all of it, but no address
outside of a launch's tensors is read or written by accident. Start with `interpreter`.
"""

__all__ = ["compile_check", "interpreter", "kernel_watch", "launch_trace", "provenance", "races"]
