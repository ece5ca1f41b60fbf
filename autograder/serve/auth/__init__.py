"""Authentication and request limits.

Anyone who can reach the port may lie about who they are. A request is first limited in size and
rate (`request_limits`), then authenticated by a one-time token and its session (`login`,
`accounts`) or by a JupyterHub (`jupyterhub`). Start reading at `login.Login`.
"""

__all__ = ["accounts", "jupyterhub", "login", "request_limits"]
