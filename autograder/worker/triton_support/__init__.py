"""Run Triton kernels on a CPU and record their accesses.

Kernels run in Triton's interpreter, inside the submission's process, so a submission can falsify
all records. No address outside of a launch's tensors is read or written by accident. Start with
`interpreter`.
"""

__all__ = ["compile_check", "interpreter", "launch_trace", "provenance", "races"]
