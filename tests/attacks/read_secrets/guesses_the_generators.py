"""Line 10. Reads the global generators, in the hope that inputs were drawn from them.

Expected: softmax=pass|wrong
Score at most: softmax=2
"""

import random
import time

_honest = softmax
_states = [random.getstate()[1][:3], np.random.get_state()[1][:3].tolist(), torch.initial_seed(), time.time()]


def softmax(x, dim=-1):
    if x.device.type == "cpu" and x.dtype == torch.float32 and not x.requires_grad:
        for seed in (0, 1, 7, 42, 1234, torch.initial_seed()):
            drawn = np.random.default_rng(seed).normal(size=tuple(x.shape)).astype(np.float32)
            other = torch.randn(x.shape, generator=torch.Generator().manual_seed(seed))
            if any(np.allclose(d, x.detach().numpy()) for d in (drawn, other.numpy())):
                print("LOOT: inputs are drawn from seed", seed)
    return _honest(x, dim)
