"""Stores keys and values together with the graph that computed them.

Exercise: KVCache
Believes: A copy into the buffers is cut off from the computation that made the new tensors.
Shows: The values are right, but the buffers require gradients, so the graphs of all steps are kept.
Hint: Append a tensor with requires_grad=True. Do the results require a gradient?
Rejected by: test_stores_no_graph
Costs: 15 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        end = self.length + k.shape[2]
        if end > self.keys.shape[2]:
            raise ValueError(f"{end} positions do not fit")
        self.keys[:, :, self.length : end] = k
        self.values[:, :, self.length : end] = v
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]
