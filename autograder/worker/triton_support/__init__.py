"""Run Triton kernels on a CPU and record their memory accesses.

Kernels run in Triton's interpreter, inside the submission's process, so a submission can falsify
all records. A kernel that computes a wrong address cannot read or write memory outside of the
launch's tensors. Start with `interpreter`.
"""

__all__ = ["compile_check", "interpreter", "launch_trace", "provenance", "races"]
