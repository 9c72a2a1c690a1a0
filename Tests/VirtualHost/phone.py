"""The phone on hci1, over the kernel's management interface: what bluetoothd does not offer. Needs nothing but python3.

usage: phone.py private|public   switches the phone on, with addresses that change and the key 00 01 … 0F, or with its fixed one
       phone.py advertise        advertises in two sets that take turns each second, until its input ends (btvirt sends one report for each)
"""
import ctypes
import os
import select
import struct
import sys
import time

SET_POWERED, SET_BONDABLE, SET_PRIVACY, ADD_ADVERTISING, REMOVE_ADVERTISING = 0x05, 0x09, 0x2F, 0x3E, 0x3F
PHONE = 1
library = ctypes.CDLL(None, use_errno=True)
# AF_BLUETOOTH, no adapter, HCI_CHANNEL_CONTROL
descriptor = library.socket(31, 3 | os.O_CLOEXEC, 1)
address = struct.pack("<HHH", 31, 0xFFFF, 3)
if library.bind(descriptor, address, len(address)):
    sys.exit("no management interface: " + os.strerror(ctypes.get_errno()))


def command(code, parameters):
    os.write(descriptor, struct.pack("<HHH", code, PHONE, len(parameters)) + parameters)
    end = time.time() + 10
    while select.select([descriptor], [], [], max(0, end - time.time()))[0]:
        packet = os.read(descriptor, 2048)
        event, index, _ = struct.unpack("<HHH", packet[:6])
        if event in (1, 2) and index == PHONE and struct.unpack("<H", packet[6:8])[0] == code:
            if packet[8]:
                sys.exit(f"command {code:#x}: status {packet[8]}")
            return
    sys.exit(f"command {code:#x}: no answer")


def advertise():
    for instance, content in ((1, "02011a0bff4c001006011d2f3a4b5c"), (2, "02011a020a00")):
        data = bytes.fromhex(content)
        # Connectable; a second each.
        command(ADD_ADVERTISING, struct.pack("<BIHHBB", instance, 1, 1, 0, len(data), 0) + data)
    sys.stdin.read()
    command(REMOVE_ADVERTISING, b"\0")


match sys.argv[1:]:
    case ["private" | "public" as kind]:
        command(SET_POWERED, b"\0")
        command(SET_PRIVACY, b"\1" + bytes(range(16)) if kind == "private" else bytes(17))
        command(SET_BONDABLE, b"\1")
        command(SET_POWERED, b"\1")
    case ["advertise"]:
        advertise()
    case _:
        sys.exit(__doc__)
