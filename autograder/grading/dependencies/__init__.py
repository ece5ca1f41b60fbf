"""Errors carried forward: grade an exercise with correct versions of the helpers that it calls.

`error_carried_forward` contains the rules, and is the place to start reading. `call_graph` finds
the exercises that each exercise calls. `reference_stubs` answers the calls of replaced helpers on
the trusted side, so the solution never enters a submission's process; it is a trust boundary.
"""

__all__ = ["call_graph", "error_carried_forward", "reference_stubs"]
