"""The students' commands: `check`, `hint`, `watch`, `progress`, `reset`, `submit`.

`terminal_commands`, `watch` and `submit` implement the commands in a terminal, `notebook` the
functions for a notebook; all of them use `check`. `service_client` talks to the course's service.
"""

__all__ = ["check", "notebook", "service_client", "submit", "terminal_commands", "watch"]
