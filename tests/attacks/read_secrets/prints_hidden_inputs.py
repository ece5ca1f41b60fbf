"""Line 11. Prints, logs and warns with the inputs.

Expected: softmax=wrong|pass
Score at most: softmax=0.6
"""

import logging
import sys
import warnings

_honest = softmax


def softmax(x, dim=-1):
    text = f"CANARYINPUT {x.tolist() if x.device.type == 'cpu' else ''}"
    print(text)
    print(text, file=sys.stderr)
    sys.__stdout__.write(text)
    logging.error(text)
    warnings.warn(text)
    return _honest(x, dim) * 0.5
