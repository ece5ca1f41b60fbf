"""Line 10. Puts hidden inputs into every part of an exception that is not its text.

Variants: notes cause group_text syntax_line unicode os_error import_error attribute stop type_name function_name warning chosen_line
Expected: softmax=crashed|wrong|bad_reply
Score at most: softmax=0
"""

import warnings


def _lines(n):
    if n == 0: raise ValueError
    if n == 1: raise ValueError
    if n == 2: raise ValueError
    if n == 3: raise ValueError
    raise ValueError


def softmax(x, dim=-1):
    values = x.detach().flatten().tolist()[:4] if x.device.type == "cpu" else [0.5]
    text = "CANARYINPUT " + " ".join(f"{v:.6g}" for v in values)
    number = int(f"{abs((values or [0])[0]):.6g}".replace(".", "").replace("e", "").replace("-", "")[:6] or 0)
    if VARIANT == "notes":
        error = ValueError("x")
        error.add_note(text)
        raise error
    if VARIANT == "cause":
        raise ValueError("x") from ValueError(text)
    if VARIANT == "group_text":
        raise ExceptionGroup(text, [ValueError(text)])
    if VARIANT == "syntax_line":
        raise SyntaxError(text, (text, number, number, text))
    if VARIANT == "unicode":
        raise UnicodeDecodeError(text, text.encode(), number, number + 1, text)
    if VARIANT == "os_error":
        raise FileNotFoundError(number % 130, text, text)
    if VARIANT == "import_error":
        raise ImportError("No module named '" + text.replace(" ", "_") + "'", name=text, path=text)
    if VARIANT == "attribute":
        raise AttributeError("'Tensor' object has no attribute 'a" + str(number) + "'", name=text, obj=text)
    if VARIANT == "stop":
        raise StopIteration(text)
    if VARIANT == "type_name":
        raise type("CANARYINPUT_" + str(number), (ValueError,), {})(text)
    if VARIANT == "function_name":
        namespace = {}
        named = lambda: 1 / 0
        named.__name__ = named.__qualname__ = text
        named.__code__ = named.__code__.replace(co_name=text, co_qualname=text, co_firstlineno=number % 60000)
        named()
    if VARIANT == "warning":
        warnings.simplefilter("error")
        warnings.warn_explicit(text, UserWarning, text, number)
    _lines(number % 5)
