"""The worker's use of torch: devices, modules, gradients and test inputs.

Start with `devices`.
"""

__all__ = ["builders", "devices", "fake_device", "figure_reader", "operator_facts", "parameters"]
