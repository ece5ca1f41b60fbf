"""The worker's use of torch: devices, modules, gradients and test inputs.

`devices` places tensors on the CPU, a GPU or the fake GPU, which `fake_device` implements with
`operator_facts`. `parameters` loads the weights of new modules and computes gradients, `builders`
makes arguments that cannot be sent, and `figure_reader` reads matplotlib figures. Start with
`devices`.
"""

__all__ = ["builders", "devices", "fake_device", "figure_reader", "operator_facts", "parameters"]
