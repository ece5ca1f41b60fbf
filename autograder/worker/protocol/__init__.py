"""The format of data that crosses the sandbox boundary: frames, messages, values and dtypes.

Both sides import this package. The trusted side must expect any bytes: `frames` checks lengths and
the exact types of `messages` and `value_types` before it allocates anything, and `values` checks
every tensor and array against its buffer. No data are unpickled or evaluated. `dtypes` lists the
types that may cross. Start with `frames`.
"""

__all__ = ["dtypes", "frames", "messages", "value_types", "values"]
