"""Line 24. A module that misreports its parameters, state and names, or makes them unbounded.

Week: week02_masking
Variants: ignores_state no_state endless_parameters counts_names lazy parametrized shared huge_buffer own_setattr renames_itself called_as_text state_of_objects changes_at_eval nested_in_itself class_is_instance moves_its_weights
Expected: SelfAttention=crashed|wrong|pass|limit|timeout|bad_reply
Score at most: SelfAttention=2
"""

_Honest = SelfAttention


class SelfAttention(_Honest):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if VARIANT == "shared":
            for name, child in list(self.named_children())[1:]:
                setattr(self, name, next(self.children()))
        if VARIANT == "huge_buffer":
            self.register_buffer("room", torch.empty(1).expand(10**12))
        if VARIANT == "parametrized":
            import torch.nn.utils.parametrizations as parametrizations

            parametrizations.weight_norm(next(c for c in self.children()))
        if VARIANT == "nested_in_itself":
            self.itself = self
        if VARIANT == "lazy":
            self.lazy = torch.nn.LazyLinear(3)
        if VARIANT == "counts_names":
            for i in range(20000):
                self.register_buffer(f"n{i}", torch.zeros(()))
        if VARIANT == "renames_itself":
            type(self).__name__ = "\x1b[2J<script>alert(1)</script>" * 3
            type(self).__qualname__ = "=HYPERLINK(1)"

    if VARIANT == "endless_parameters":

        def named_parameters(self, *args, **kwargs):
            while True:
                yield "weight", torch.nn.Parameter(torch.zeros(1))

        def parameters(self, *args, **kwargs):
            while True:
                yield torch.nn.Parameter(torch.zeros(1))

    if VARIANT == "no_state":

        def state_dict(self, *args, **kwargs):
            return {}

    if VARIANT == "ignores_state":

        def load_state_dict(self, *args, **kwargs):
            return None

        def _load_from_state_dict(self, *args, **kwargs):
            return None

    if VARIANT == "own_setattr":

        def __setattr__(self, name, value):
            object.__setattr__(self, name, value)

    if VARIANT == "called_as_text":
        __call__ = "text"

    if VARIANT == "state_of_objects":

        def state_dict(self, *args, **kwargs):
            return {object(): object(), "\ud800": torch.zeros(1), None: self}

        def __getstate__(self):
            raise SystemExit

    if VARIANT == "changes_at_eval":

        def train(self, mode=True):
            torch.Tensor.__eq__ = lambda a, b: True
            return self

    if VARIANT == "moves_its_weights":

        def forward(self, *args, **kwargs):
            for parameter in self.parameters():
                parameter.data = parameter.data.to("meta")
            return super().forward(*args, **kwargs)


if VARIANT == "class_is_instance":
    _Made = SelfAttention

    class _Lying(type):
        def __instancecheck__(cls, value):
            return True

        def __call__(cls, *args, **kwargs):
            return _Made(*args, **kwargs)

    class SelfAttention(metaclass=_Lying):
        pass
