"""The format of data that crosses the sandbox boundary: frames, messages, values and dtypes.

The trusted process and the worker import this package. The trusted process may receive arbitrary
bytes, so `frames` checks lengths before it reads data and the exact types of `messages` and
`value_types` while it decodes them, and `values` checks every tensor and array against its buffer.
No data is unpickled or evaluated. `dtypes` lists the allowed dtypes. Start with `frames`.
"""

__all__ = ["dtypes", "frames", "messages", "value_types", "values"]
