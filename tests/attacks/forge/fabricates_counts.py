"""Line 36. Replaces the counter of operations in the worker.

Expected: softmax=refused
Score at most: softmax=0
"""

import worker.monitor.operator_hooks


class _Nothing:
    flops = largest = ops = 1

    def __enter__(self):
        return self

    def __exit__(self, *a):
        return None


worker.monitor.call_hooks.Counting = _Nothing
worker.executor = worker.monitor.operator_hooks
