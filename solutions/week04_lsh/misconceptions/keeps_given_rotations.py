"""Keeps the first rotations that it is given, for all calls of that shape.

Exercise: LSHAttention
Believes: the rotations belong to the module.
Shows: a second call with other rotations is hashed with the first ones.
Hint: Call the module twice with two different rotations. Which ones does the second call use?
Rejected by: test_two_objects
Costs: 20 %
"""

_LSHAttention = LSHAttention


class LSHAttention(_LSHAttention):
    def forward(self, x, rotations=None, generator=None):
        kept = getattr(self, "rotations", None)
        if rotations is not None:
            if kept is None or kept.shape != rotations.shape or kept.device != rotations.device:
                self.rotations = rotations
            rotations = self.rotations
        return super().forward(x, rotations, generator)
