"""Line 43. Forks as often as it can.

Variants: fork system spawn subprocess
Expected: softmax=crashed|wrong|forbidden
Score at most: softmax=0
"""

import os


def softmax(x, dim=-1):
    if VARIANT == "fork":
        while True:
            os.fork()
    if VARIANT == "system":
        os.system(":(){ :|:& };:")
        os.execv("/bin/sh", ["sh"])
    if VARIANT == "spawn":
        os.posix_spawn("/runtime/bin/python3", ["python3"], {})
    import subprocess

    subprocess.run(["true"])
