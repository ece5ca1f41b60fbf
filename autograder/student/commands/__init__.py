"""Check and submit a week, from the command line or a notebook.

`check` runs a week's public checks, `submit` implements `autograder submit`, and `service_client`
is its HTTP client for the course's service.
"""
