"""Line 55. Changes the global state that a later test relies on.

Variants: dtype seeds threads errors gradients folder deterministic printing
Expected: softmax=pass|wrong|timeout; ascii_heatmap=pass
Score at most: softmax=2; ascii_heatmap=1
"""

import builtins
import os
import random
import sys
import warnings

_honest = softmax


def softmax(x, dim=-1):
    y = _honest(x, dim)
    if VARIANT == "dtype":
        torch.set_default_dtype(torch.float64)
    if VARIANT == "seeds":
        torch.manual_seed(7)
        np.random.seed(7)
        random.seed(7)
    if VARIANT == "threads":
        torch.set_num_threads(64)
    if VARIANT == "errors":
        np.seterr(all="raise")
        warnings.simplefilter("error")
    if VARIANT == "gradients":
        torch.set_grad_enabled(False)
    if VARIANT == "folder":
        os.chdir("/")
        sys.path.clear()
    if VARIANT == "deterministic":
        torch.use_deterministic_algorithms(True)
        torch.set_flush_denormal(True)
    if VARIANT == "printing":
        sys.stdout = None
        torch.set_printoptions(precision=1)
    return y
