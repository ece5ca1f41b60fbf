"""Line 44. Starts threads until there is no room.

Expected: softmax=crashed|limit|timeout|forbidden
Score at most: softmax=0
"""

def softmax(x, dim=-1):
    starter = __builtins__["__imp" + "ort__"]("_thr" + "ead").start_new_thread
    while True:
        starter(lambda: [0 for _ in iter(int, 1)], ())
