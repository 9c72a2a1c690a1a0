"""The phone on hci1, over the kernel's management interface: what bluetoothd does not offer. Needs nothing but python3.

usage: phone.py private|public   switches the phone on, with addresses that change and the key 00 01 … 0F, or with its fixed one
       phone.py alone private|public   the same where no bluetoothd prepares the phone
       phone.py pair ADDRESS           pairs with the gateway, where no bluetoothd does
       phone.py connect ADDRESS yes|no connects only, and answers the gateway's wish to pair
       phone.py forget ADDRESS         removes that pairing from the phone
       phone.py gateway                prints the settings of the gateway's adapter, and how many advertisements it has
       phone.py advertise        advertises in two sets that take turns each second, until its input ends (btvirt sends one report for each)
"""
import ctypes
import os
import select
import struct
import sys
import time

SET_POWERED, SET_BONDABLE, SET_PRIVACY, ADD_ADVERTISING, REMOVE_ADVERTISING = 0x05, 0x09, 0x2F, 0x3E, 0x3F
SET_LE, SET_CAPABILITY, SET_SECURE, LOAD_KEYS, READ_INFORMATION, READ_FEATURES = 0x0D, 0x18, 0x2D, 0x30, 0x04, 0x3D
PAIR, UNPAIR, AGREE, DECLINE, QUESTION = 0x19, 0x1B, 0x1C, 0x1D, 0x0F
GATEWAY, PHONE = 0, 1
agrees = True
library = ctypes.CDLL(None, use_errno=True)
# AF_BLUETOOTH, no adapter, HCI_CHANNEL_CONTROL
descriptor = library.socket(31, 3 | os.O_CLOEXEC, 1)
address = struct.pack("<HHH", 31, 0xFFFF, 3)
if library.bind(descriptor, address, len(address)):
    sys.exit("no management interface: " + os.strerror(ctypes.get_errno()))


def send(code, parameters, index=PHONE):
    os.write(descriptor, struct.pack("<HHH", code, index, len(parameters)) + parameters)


def packets(seconds):
    """Events and answers as they come; the phone's owner answers its questions."""
    end = time.time() + seconds
    while select.select([descriptor], [], [], max(0, end - time.time()))[0]:
        packet = os.read(descriptor, 2048)
        event, index, _ = struct.unpack("<HHH", packet[:6])
        print(f"hci{index} {event:#x} {packet[6:].hex()}", file=sys.stderr)
        if event == QUESTION and index == PHONE:
            send(AGREE if agrees else DECLINE, packet[6:13])
        yield event, index, packet[6:]


def command(code, parameters, index=PHONE):
    send(code, parameters, index)
    for event, source, answer in packets(10):
        if event in (1, 2) and source == index and struct.unpack("<H", answer[:2])[0] == code:
            if answer[2]:
                sys.exit(f"command {code:#x}: status {answer[2]}")
            return answer[3:]
    sys.exit(f"command {code:#x}: no answer")


def octets(text):
    return bytes.fromhex(text.replace(":", ""))[::-1]


def prepare():
    for code, value in ((SET_POWERED, 0), (SET_LE, 1), (SET_CAPABILITY, 3), (SET_SECURE, 1)):
        command(code, bytes([value]))
    command(LOAD_KEYS, b"\0\0")


def connect(text):
    """A connection of L2CAP to the attributes (channel 4), as a phone makes one that shows what a device offers."""
    def end(address):
        return struct.pack("<HH6sHBx", 31, 0, address, 4, 1)

    own = command(READ_INFORMATION, b"")[:6]
    channel = library.socket(31, 5 | os.O_CLOEXEC, 0)
    if library.bind(channel, end(own), 14) or library.connect(channel, end(octets(text)), 14):
        sys.exit("no connection: " + os.strerror(ctypes.get_errno()))
    for _ in packets(10):
        pass


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
    case ["alone", "private" | "public" as kind]:
        prepare()
        command(SET_PRIVACY, b"\1" + bytes(range(16)) if kind == "private" else bytes(17))
        command(SET_BONDABLE, b"\1")
        command(SET_POWERED, b"\1")
    case ["pair", address]:
        command(PAIR, octets(address) + b"\1\3")
    case ["connect", address, "yes" | "no" as answer]:
        agrees = answer == "yes"
        connect(address)
    case ["forget", address]:
        command(UNPAIR, octets(address) + b"\1\1")
    case ["gateway"]:
        settings = struct.unpack("<I", command(READ_INFORMATION, b"", GATEWAY)[13:17])[0]
        print(f"settings {settings:#x} advertisements {command(READ_FEATURES, b'', GATEWAY)[7]}")
    case ["advertise"]:
        advertise()
    case _:
        sys.exit(__doc__)
