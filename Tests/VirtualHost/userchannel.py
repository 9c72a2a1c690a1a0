"""Takes an adapter for itself, by the HCI user channel, until it ends. Needs nothing but python3.

usage: userchannel.py hci0
"""
import ctypes
import os
import signal
import struct
import sys

# bluetooth/hci.h
AF_BLUETOOTH, SOCK_RAW, BTPROTO_HCI, HCI_CHANNEL_USER, HCIDEVDOWN = 31, 3, 1, 1, 0x400448CA
index = int(sys.argv[1].removeprefix("hci"))
library = ctypes.CDLL(None, use_errno=True)
control = library.socket(AF_BLUETOOTH, SOCK_RAW, BTPROTO_HCI)
user = library.socket(AF_BLUETOOTH, SOCK_RAW, BTPROTO_HCI)
address = struct.pack("<HHH", AF_BLUETOOTH, index, HCI_CHANNEL_USER)
# The kernel gives nobody an adapter that is up.
library.ioctl(control, HCIDEVDOWN, index)
if library.bind(user, address, len(address)):
    sys.exit("not taken: " + os.strerror(ctypes.get_errno()))
print("taken", flush=True)
signal.pause()
