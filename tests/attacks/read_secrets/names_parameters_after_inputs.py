"""Line 11. Returns a state dict whose keys encode the inputs.

Week: week02_masking
Expected: SelfAttention=wrong|crashed|grader_fault|pass
Score at most: SelfAttention=2
"""

_Honest = SelfAttention


class SelfAttention(_Honest):
    def forward(self, x, mask=None):
        name = "CANARYINPUT" + "".join(c for v in x.flatten().tolist()[:5] for c in f"{v:.5g}" if c.isdigit())
        self.register_parameter(name, torch.nn.Parameter(torch.zeros(3)))
        return super().forward(x, mask)

    def state_dict(self, *args, **kwargs):
        state = super().state_dict(*args, **kwargs)
        return {f"CANARYINPUT{key}": value for key, value in state.items()}
