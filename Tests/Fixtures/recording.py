"""Recordings for tests that play them through the service: btsnoop, datalink 2001, one adapter."""
import struct, uuid

UUID = uuid.UUID("FDA50693-A4E2-4FB1-AFCF-C6EB07647825")
FLAGS = b"\x02\x01\x06"
EPOCH = 62_168_256_000_000_000 + 1_700_000_000_000_000


def beacon(major, minor, owner=UUID):
    """The advertising data of an iBeacon with a measured power of -59 dBm."""
    return FLAGS + b"\x1a\xff\x4c\x00\x02\x15" + owner.bytes + struct.pack(">HHb", major, minor, -59)


def report(data, address, rssi):
    """The HCI event that carries one legacy advertising report."""
    body = b"\x02\x01\x03\x01" + address + bytes([len(data)]) + data + struct.pack("b", rssi)
    return bytes([0x3E, len(body)]) + body


def write(path, reports):
    """Each report is (seconds from the start, data, six bytes of address, dBm); in any order."""
    with open(path, "wb") as file:
        file.write(b"btsnoop\0" + struct.pack(">II", 1, 2001))
        for at, data, address, rssi in sorted(reports):
            packet = report(data, address, rssi)
            file.write(struct.pack(">IIIIq", len(packet), len(packet), 3, 0, EPOCH + int(at * 1e6)) + packet)


def visit(minor, start, end, rssi=None, rate=5, major=1):
    """A beacon that is heard RATE times a second from START to END (seconds)."""
    return [(start + n / rate, beacon(major, minor), struct.pack(">IH", major, minor),
             -60 - minor if rssi is None else rssi) for n in range(int((end - start) * rate))]


def telemetry(minor, start, end, millivolts, rate=1, major=1):
    """Eddystone-TLM of the same device, between its iBeacons: a battery and 21 degrees Celsius."""
    frame = b"\x11\x16\xaa\xfe" + struct.pack(">BBHhII", 0x20, 0, millivolts, 21 * 256, 69, 600)
    return [(start + (n + 0.5) / rate, FLAGS + b"\x03\x03\xaa\xfe" + frame, struct.pack(">IH", major, minor), -60 - minor)
            for n in range(int((end - start) * rate))]


def waypoint(rid, name, minor, major=1):
    return {"_type": "waypoint", "rid": rid, "desc": f"{name}:{UUID}:{major}:{minor}", "tst": 1700000000}
