"""Line 13. Tries the network in every family: TCP, UDP, DNS, unix, vsock, netlink, raw.

Expected: softmax=pass
Score at most: softmax=2
"""

import socket

_TRIES = [(socket.AF_INET, socket.SOCK_STREAM), (socket.AF_INET, socket.SOCK_DGRAM), (socket.AF_INET6, socket.SOCK_STREAM), (socket.AF_UNIX, socket.SOCK_STREAM), (socket.AF_UNIX, socket.SOCK_DGRAM), (40, socket.SOCK_STREAM), (socket.AF_NETLINK, socket.SOCK_RAW), (socket.AF_PACKET, socket.SOCK_RAW), (socket.AF_INET, socket.SOCK_RAW)]
for family, kind in _TRIES:
    try:
        print("LOOT: a socket", socket.socket(family, kind))
    except OSError:
        pass
try:
    print("LOOT: a pair", socket.socketpair())
except OSError:
    pass
try:
    print("LOOT: a name", socket.getaddrinfo("example.com", 80))
except OSError:
    pass
