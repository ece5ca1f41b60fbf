"""Line 12. Chooses the traceback's location: code with the name of a grader's file and any line.

Variants: named own grader
Expected: softmax=crashed|forbidden
Score at most: softmax=0
"""

_inner = {}


def softmax(x, dim=-1):
    flat = x.detach().flatten().tolist()[:4] if x.device.type == "cpu" else [0.0]
    digits = "".join(c for v in flat for c in f"{v:.6g}" if c.isdigit())
    code = (lambda: {}["x"]).__code__
    made = code.replace(co_filename={"named": "CANARYINPUT" + digits, "own": __file__, "grader": "/course/autograder/graders/week01_softmax/test_softmax.py"}[VARIANT], co_firstlineno=int(digits[:7] or 1), co_name="CANARYINPUT_" + digits)
    return type(softmax)(made, {})()
