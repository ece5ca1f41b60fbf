"""Errors carried forward: grade an exercise with correct versions of the helpers that it calls.

Start with `error_carried_forward`: it contains the rules, and finds out from the source which
exercise calls which. `reference_stubs` answers the calls of replaced helpers on the trusted side,
so the solution never enters a submission's process; it is a trust boundary.
"""

__all__ = ["error_carried_forward", "reference_stubs"]
