"""Grade on a Dask cluster (`distributed`).

Theory of operation. Submissions are untrusted: each runs in a sandbox on its worker. The scheduler
and the workers are trusted: a client of the scheduler can run code on the workers, and a worker
reads solutions, graders and the course's secret. Use TLS on networks that other people can reach.
Client, scheduler and workers then authenticate with certificates from your own authority.

Data flow: each worker receives a parcel with the required parts of the course (registry, graders
and solutions of the week, secret) and unpacks it in a private folder. The course stays there
between batches, until the client's `ClusterSession` is closed. Submissions are sent as bytes, and
reports are sent back. No shared disk is needed.

Guarantees: a worker grades only if its sandbox works and its versions of the kit, Python and the
libraries equal those on the instructor's machine; otherwise the worker reports why it refuses. A
worker grades one submission at a time. If a worker dies, its submissions are graded again. A
submission that kills several workers is reported as a system error, never with zero points.
Except for timings, the reports equal those of local grading.
"""

import re

import msgspec

from ...model.availability import LOOPBACK
from ...model.errors import KitError

__all__ = ["Cluster", "cluster_at", "plaintext_warning"]

_ADDRESS = re.compile(r"(?:(tcp|tls)://)?(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})/?\Z")


class Cluster(msgspec.Struct, frozen=True):
    """The address of a scheduler and the paths of PEM files for TLS.

    Without PEM files, a `tls://` address uses the TLS settings in distributed's configuration.
    """

    address: str
    tls_ca: str = ""
    tls_cert: str = ""
    tls_key: str = ""


def cluster_at(
    address: str, tls_ca: str | None = None, tls_cert: str | None = None, tls_key: str | None = None
) -> Cluster:
    """Return a scheduler's address and TLS files after validating them.

    Raise KitError for a malformed address, inconsistent TLS options or an unreadable file.
    """
    found = _ADDRESS.match(address)
    if not found or not 0 < int(found.group(3)) < 1 << 16:
        raise KitError(
            f"--cluster {address!r} is not the address of a scheduler; use tcp://host:8786 or "
            "tls://host:8786"
        )
    if found.group(1) is None:
        address = f"{'tls' if tls_ca else 'tcp'}://{address}"
    files = {"--tls-ca": tls_ca, "--tls-cert": tls_cert, "--tls-key": tls_key}
    given = {option: path for option, path in files.items() if path}
    if given and not address.startswith("tls://"):
        raise KitError(f"{next(iter(given))} needs an address that starts with tls://")
    if given and len(given) < len(files):
        lacking = next(option for option in files if option not in given)
        raise KitError(f"TLS needs all of {', '.join(files)}; {lacking} is missing")
    for option, path in given.items():
        try:
            with open(path, "rb"):
                pass
        except OSError as error:
            raise KitError(f"{option} {path}: {error.strerror}") from None
    return Cluster(address, tls_ca or "", tls_cert or "", tls_key or "")


def plaintext_warning(cluster: Cluster) -> str:
    """Return a warning if data would cross a network without encryption, otherwise ""."""
    found = _ADDRESS.match(cluster.address)
    if found is None or found.group(1) != "tcp" or found.group(2).strip("[]") in LOOPBACK:
        return ""
    return (
        f"WARNING: {cluster.address} does not use TLS: solutions, submissions and the course's "
        "secret would be sent unencrypted, and anyone who can reach the scheduler could run code "
        "on the workers. Use tls:// with --tls-ca, --tls-cert and --tls-key, or --insecure on a "
        "network that no one else can reach"
    )
