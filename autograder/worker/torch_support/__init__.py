"""Support for torch in the worker: devices, modules, gradients, test inputs and figures.

Start with `devices`.
"""
