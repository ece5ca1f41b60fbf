"""Line 13. Networks by way of libraries: mail, file transfer, syslog, hubs, stores of tensors.

Expected: softmax=pass|forbidden|crashed
Score at most: softmax=2
"""

import logging.handlers
import smtplib
import urllib.request

_WAYS = (
    lambda: urllib.request.urlopen("http://127.0.0.1:8888", timeout=0.05),
    lambda: urllib.request.urlopen("file:///etc/shadow", timeout=0.05),
    lambda: urllib.request.urlopen("ftp://127.0.0.1/x", timeout=0.05),
    lambda: smtplib.SMTP("127.0.0.1", timeout=0.05),
    lambda: logging.handlers.SysLogHandler("/dev/log"),
    lambda: torch.hub.load_state_dict_from_url("http://127.0.0.1/x"),
    lambda: torch.distributed.TCPStore("127.0.0.1", 29500, is_master=False, timeout=__import__("datetime").timedelta(milliseconds=50)),
)
for number, way in enumerate(_WAYS):
    try:
        way()
        print("LOOT: connected", number)
    except BaseException:
        pass
