"""Many submissions: read, handed out to processes or a cluster, and kept by content."""
