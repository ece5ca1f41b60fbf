"""Support for torch in the worker: devices, modules, gradients, test inputs and figures.

Start with `devices`.
"""

__all__ = ["builders", "devices", "fake_device", "figure_reader", "operator_facts", "parameters"]
