"""Line 24. Raises exceptions with unusual text, type, bases, cause and traceback.

Variants: text name bases group notes cause loops traceback syntax_error generator_exit interrupt
Expected: softmax=crashed|bad_reply|wrong|timeout
Score at most: softmax=0
"""

_TOLD = "CANARY" + "INPUT 1"


class _Text(str):
    def __getitem__(self, part):
        return self

    def replace(self, *a):
        return self

    def encode(self, *a):
        return self

    def decode(self, *a):
        return {"LOOT": 1}


class _Kind(type(Exception)):
    @property
    def __name__(self):
        return _Text("x") if VARIANT == "name" else "\x1b[2J" * 1000

    def mro(cls):
        return [cls, ValueError, Exception, BaseException, object]


class _Odd(Exception, metaclass=_Kind):
    def __str__(self):
        return _Text(_TOLD * 10**6)


def softmax(x, dim=-1):
    error = ValueError("no")
    if VARIANT in ("text", "name", "bases"):
        raise _Odd
    if VARIANT == "group":
        raise ExceptionGroup("\x1b[2J" * 999, [ExceptionGroup("a", [error] * 999)] * 99)
    if VARIANT == "notes":
        error.__notes__ = [_TOLD] * 10**5
    if VARIANT == "cause":
        for number in range(3000):
            later = ValueError(number)
            later.__cause__ = later.__context__ = error
            error = later
    if VARIANT == "loops":
        error.__cause__ = error.__context__ = error
    if VARIANT == "traceback":
        error.__traceback__ = None
        error.with_traceback = None
    if VARIANT == "syntax_error":
        raise SyntaxError(_TOLD, ("/etc/passwd", 10**30, -5, _TOLD * 999))
    if VARIANT == "generator_exit":
        raise GeneratorExit(_TOLD)
    if VARIANT == "interrupt":
        raise KeyboardInterrupt(_TOLD)
    raise error
