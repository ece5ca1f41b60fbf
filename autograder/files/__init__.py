"""Files that the kit keeps on this machine.

Files are replaced in one step (`atomic`), folders of killed processes are removed (`workfolder`),
and the course's secret makes hidden inputs unpredictable (`secret`). Start reading at `atomic`.
"""

__all__ = ["atomic", "secret", "workfolder"]
