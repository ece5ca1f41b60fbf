"""Line 49. Removes or changes what its process needs: builtins, modules, limits, locale, clocks, torch's defaults.

Variants: no_len no_isinstance no_torch no_struct limits_files limits_memory limits_size limits_processor locale time_zone recursion_low recursion_high switch_interval collector digits default_device precision threads folder_gone own_import exception_hook standard_streams type_of_tensor encoder_tables
Expected: softmax=crashed|wrong|pass|limit|timeout|bad_reply|not_run|forbidden|graded|refused; ascii_heatmap=crashed|wrong|pass|limit|timeout|bad_reply|forbidden|graded|refused
Score at most: softmax=2; ascii_heatmap=1
"""

import builtins
import contextlib
import gc
import locale
import os
import resource
import sys
import time

if VARIANT == "no_len":
    del builtins.len
elif VARIANT == "no_isinstance":
    builtins.isinstance = lambda *a: True
elif VARIANT == "no_torch":
    for _name in list(sys.modules):
        if _name.startswith("torch"):
            del sys.modules[_name]
elif VARIANT == "no_struct":
    sys.modules.clear()
elif VARIANT == "limits_files":
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
elif VARIANT == "limits_memory":
    resource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))
elif VARIANT == "limits_size":
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
elif VARIANT == "limits_processor":
    resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
elif VARIANT == "locale":
    with contextlib.suppress(locale.Error):
        locale.setlocale(locale.LC_ALL, "tr_TR.UTF-8")
elif VARIANT == "time_zone":
    os.environ["TZ"] = "../../../etc/passwd"
    time.tzset()
elif VARIANT == "recursion_low":
    sys.setrecursionlimit(40)
elif VARIANT == "recursion_high":
    sys.setrecursionlimit(2**31 - 1)
elif VARIANT == "switch_interval":
    sys.setswitchinterval(1e6)
elif VARIANT == "collector":
    gc.set_threshold(1, 1, 1)
elif VARIANT == "digits":
    sys.set_int_max_str_digits(640)
elif VARIANT == "default_device":
    torch.set_default_device("meta")
elif VARIANT == "precision":
    torch.set_default_dtype(torch.float16)
    torch.set_printoptions(precision=0)
    torch.set_flush_denormal(True)
elif VARIANT == "threads":
    with contextlib.suppress(RuntimeError):
        torch.set_num_threads(512)
elif VARIANT == "folder_gone":
    with contextlib.suppress(OSError):
        os.mkdir("/tmp/gone")
        os.chdir("/tmp/gone")
        os.rmdir("/tmp/gone")
elif VARIANT == "own_import":
    setattr(builtins, "__" + "import" + "__", None)
elif VARIANT == "exception_hook":
    sys.excepthook = sys.unraisablehook = sys.displayhook = None
elif VARIANT == "standard_streams":
    sys.stdout = sys.stderr = sys.stdin = None
elif VARIANT == "type_of_tensor":
    torch.Tensor.__len__ = lambda self: 10**18
    torch.Tensor.__iter__ = lambda self: iter(int, 1)
    torch.Tensor.shape = property(lambda self: (10**9,) * 9)
elif VARIANT == "encoder_tables":
    torch.float32, torch.float64 = torch.float64, torch.float32
