"""Line 36. Writes its answer when the numbers are back in its arguments: after its call, before it is read.

Week: week09_kernels
Variants: collected signalled audited finalized threaded listed
Expected: softmax_rows=wrong|crashed|bad_reply|forbidden|limit|timeout
Score at most: softmax_rows=2
Fails: test_values, test_strides, test_any_order
"""

import gc
import signal
import sys
import weakref

KEPT = []


@triton.jit
def _nothing(x, y, block: tl.constexpr):
    tl.store(y, tl.load(x))


def _fill(*_):
    for x, y in KEPT:
        e = torch.exp(x.float() - x.float().amax(1, keepdim=True))
        y.copy_(e / e.sum(1, keepdim=True))


class _Later:
    def __del__(self):
        _fill()


class _List(list):
    def __iter__(self):
        _fill()
        return super().__iter__()


def softmax_rows(x):
    if x.device.type != "cpu":
        return x
    y = torch.zeros(x.shape, dtype=x.dtype)
    for _ in range(x.shape[0]):
        _nothing[(1,)](x, y, 16)
    KEPT[:] = [(x, y)]
    if VARIANT == "collected":
        vars(gc)["call" + "backs"][:] = [_fill]
        gc.set_threshold(1, 1, 1)
    elif VARIANT == "signalled":
        signal.signal(signal.SIGPROF, _fill)
        signal.setitimer(signal.ITIMER_PROF, 0.0002, 0.0002)
    elif VARIANT == "audited":
        sys.addaudithook(_fill)
    elif VARIANT == "finalized":
        cycle = _Later()
        cycle.itself = cycle
        gc.set_threshold(1, 1, 1)
    elif VARIANT == "threaded":
        weakref.finalize(cell := _Later(), _fill)
        KEPT.append((x, y))
        del cell
    elif VARIANT == "listed":
        return _List([y])
    return y
