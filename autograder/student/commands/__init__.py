"""Check a week and submit it, for the commands and the functions of a notebook.

`check` runs the checks of a week, `submit` implements the command, and `service_client` is its HTTP
client for the course's service.
"""

__all__ = ["check", "service_client", "submit"]
