"""Errors carried forward: grade an exercise with correct versions of the helpers that it calls.

`error_carried_forward` contains the rules, and reads from the source which helpers each exercise
calls. `reference_stubs` is a trust boundary: it answers the calls to replaced helpers on the
trusted side, so the solution never enters a submission's process.
"""

__all__ = ["error_carried_forward", "reference_stubs"]
