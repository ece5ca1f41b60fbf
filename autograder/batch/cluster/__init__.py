"""Grading on a cluster of `distributed`: who may be lying, what travels, what is promised.

Theory of operation
-------------------
Who may be lying: a submission, on whichever machine; it runs in that machine's sandbox. The
scheduler and the workers are believed: whoever may connect to the scheduler runs code on the
workers, and whoever runs a worker sees solutions, graders and the course's secret. Over a network
that others can reach, use TLS: both ends then show a certificate of your own authority.

What travels: to each worker once per batch, a parcel with what it needs of the course (registry,
the week's graders and solutions, the secret), which it keeps under the parcel's hash in a private
folder until the batch is over; then submissions, as bytes; and reports back. No disk is shared.

What is promised: a worker grades only where its kit, Python and libraries are those that the
instructor's machine has and its sandbox works; else it refuses, with a reason, and the work goes
to the others. A worker grades one submission at a time. One that dies costs time: its work is done
again elsewhere, and what kept killing workers is a fault of ours, never a zero. The report is the
one that grading on this machine gives, timings aside.
"""

from __future__ import annotations

import re
from ipaddress import ip_address

import msgspec

from ...model.errors import KitError

_ADDRESS = re.compile(r"(?:(tcp|tls)://)?(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})/?\Z")


class Cluster(msgspec.Struct, frozen=True):
    """Where the scheduler is, and how to speak to it. The three are paths of PEM files.

    Without them a `tls://` address takes distributed's own configuration.
    """

    address: str
    tls_ca: str = ""
    tls_cert: str = ""
    tls_key: str = ""


def cluster_at(
    address: str, tls_ca: str | None = None, tls_cert: str | None = None, tls_key: str | None = None
) -> Cluster:
    """A scheduler's address and files, looked at before anything is sent there."""
    found = _ADDRESS.match(address)
    if not found or not 0 < int(found.group(3)) < 1 << 16:
        raise KitError(
            f"--cluster {address!r}: that is no scheduler's address; it looks like "
            "tcp://host:8786 or tls://host:8786"
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


def in_the_clear(cluster: Cluster) -> str:
    """A warning if solutions and reports would cross a network unprotected, or nothing."""
    found = _ADDRESS.match(cluster.address)
    if found is None or found.group(1) != "tcp" or _is_here(found.group(2).strip("[]")):
        return ""
    return (
        f"WARNING: {cluster.address} is no TLS address: solutions, submissions and the course's "
        "secret cross the network in the clear, and whoever reaches the scheduler runs code on the "
        "workers. Use tls:// with --tls-ca, --tls-cert and --tls-key, or say --insecure where "
        "nobody else reaches that network"
    )


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
