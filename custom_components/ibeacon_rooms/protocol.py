"""The messages of a site, as bytes, without Home Assistant. `Sources/Site/SiteProtocol` of the same repository is the other side."""

import base64
import json
import statistics
import uuid

from nacl.secret import SecretBox

# Limits of the site: beacons of a message, tags, bytes of their list, phones of a card, bytes of a key.
MOST_BEACONS, MOST_TAGS, MOST_LIST_BYTES, MOST_PHONES = 256, 10_000, 4 << 20, 128
LONGEST_KEY = 32
HEAD, TAIL = b'{"_type":"encrypted","data":"', b'"}'  # OwnTracks' envelope, in the form in which every program of the site writes it
ASSUMED_POWER = -59  # of what says none: that of a phone at one metre, in dBm
KEEPALIVE, ATTENTION = 10, 30  # seconds: a receiver that hears no tag says so this often, and for ATTENTION after a tag each second
NAMESPACE = uuid.UUID("0b87d8b3-eed6-4bff-9daa-54326bacec6a")  # of phones and fixed addresses
STALL = 2  # seconds: what comes later than this after the second before shows that Home Assistant stood still


def identity(text: str) -> str:
    """The beacon that stands for `mac:C0:FF:EE:00:00:01`, or for `irk:` and 32 upper-case digits."""
    return f"{uuid.uuid5(NAMESPACE, text)}:0:0".upper()


def ibeacon(content: bytes) -> tuple[str, int] | None:
    """The beacon and its measured power in Apple's data. A frame is whole, or has one byte more, the battery of some tags."""
    if len(content) not in (23, 24) or content[:2] != b"\x02\x15":
        return None
    major, minor = (int.from_bytes(content[at:at + 2]) for at in (18, 20))
    return f"{uuid.UUID(bytes=content[2:18])}:{major}:{minor}".upper(), content[22] - 256 * (content[22] > 127)


def apple(packet: bytes) -> bytes:
    """Apple's manufacturer specific data in an advertising packet; empty if it has none."""
    at = 0
    while at + 1 < len(packet) and (length := packet[at]):
        if packet[at + 1] == 0xFF and packet[at + 2:at + 4] == b"\x4c\x00" and at + 1 + length <= len(packet):
            return packet[at + 4:at + 1 + length]
        at += 1 + length
    return b""


class Seal:
    """The encryption of a site: OwnTracks' envelope, of the site's key. Without a key nothing is encrypted."""

    def __init__(self, key: str) -> None:
        self.box = SecretBox(key.encode().ljust(LONGEST_KEY, b"\0")) if key else None

    def sealed(self, payload: bytes) -> bytes:
        """The payload as it is published. An empty one deletes a retained message and stays empty."""
        if self.box is None or not payload:
            return payload
        return HEAD + base64.b64encode(bytes(self.box.encrypt(payload))) + TAIL

    def opened(self, payload: bytes) -> bytes:
        """The payload as it was. ValueError: it cannot be decrypted, or is plain although the site has a key."""
        is_sealed = payload.startswith(HEAD)
        if is_sealed != (self.box is not None):
            raise ValueError("it is encrypted, and no key was given" if is_sealed else "it is not encrypted, and a key was given")
        if self.box is None:
            return payload
        try:
            return bytes(self.box.decrypt(base64.b64decode(payload.removeprefix(HEAD).removesuffix(TAIL), validate=True)))
        except Exception as error:  # nacl has errors of its own for each cause
            raise ValueError("it was encrypted with another key") from error


def tags(payload: bytes) -> set[str]:
    """The beacons of the site's list. A tag without major or minor is a phone or has an address, and is heard as `UUID:0:0`."""
    try:
        message = json.loads(payload) if len(payload) <= MOST_LIST_BYTES else None
        found = message["tags"] + message.get("patterns", [])
        return {f"{uuid.UUID(tag['uuid'])}:{int(tag.get('major') or 0)}:{int(tag.get('minor') or 0)}".upper()
                for tag in found[:MOST_TAGS]}
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise ValueError("it is no list of tags") from error


def phones(payload: bytes, gateway: str) -> dict[str, tuple[bytes, ...]]:
    """The keys of phones in a gateway's list, the most significant octet first, by the beacons that may stand for them.

    A tag may have been made while nobody knew in which order the octets are.
    """
    try:
        message = json.loads(payload)
        if message["v"] != 1 or message["gateway"] != gateway:
            raise ValueError("it is the list of another gateway")
        found = {}
        for line in message["list"].splitlines():
            words = line.strip().partition(" ")[0].split(",")
            if len(words[0]) == 32:
                key = bytes.fromhex(words[0])
                orders = (key, key[::-1])
                for octets in orders:
                    found[identity(f"irk:{octets.hex().upper()}")] = (key,) if "msb" in words else orders
        return found
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("it is no list of phones") from error


def card(room: str | None, version: str, scanner: str, since: int, source: str, known: list[str]) -> bytes:
    """Where a receiver stands. `source` is the address of its radio, `known` the beacons of the phones whose key it has."""
    members = {"v": 1, "room": room, "version": version, "scanner": scanner, "since": since, "source": source}
    members["phones"] = [beacon.partition(":")[0] for beacon in sorted(known)[:MOST_PHONES]]
    return json.dumps({name: value for name, value in members.items() if value not in (None, [])}, ensure_ascii=False).encode()


class Feed:
    """What one scanner heard, as the messages of a gateway: one for each second in which it heard a tag."""

    def __init__(self, boot: str, now: float) -> None:
        """`boot` is that of all scanners of one start: they share a clock, whose seconds `now` counts."""
        self.boot, self.sequence, self.packets = boot, 0, 0
        self.readings: dict[str, tuple[list[int], int, float]] = {}
        self.heard, self.told = now - ATTENTION, now
        self.was_listening: bool | None = None

    def add(self, beacon: str, power: int, level: int, at: float) -> None:
        levels, _, _ = self.readings.get(beacon, ([], 0, 0.0))
        levels.append(level)
        self.readings[beacon] = (levels, power, at)
        self.packets += 1

    def skip(self) -> None:
        """Nothing can be sent: what was heard is dropped, and the number that is left out tells the service so."""
        self.readings, self.packets = {}, 0
        self.sequence += 1

    def messages(self, now: float, seconds: float, listening: bool, since_packet: float) -> list[bytes]:
        """What is to be published now, of `seconds` that end now. The last packet of any device is `since_packet` seconds old."""
        self.sequence += seconds > STALL
        if self.readings:
            self.heard = now
        changed, self.was_listening = listening != self.was_listening, listening
        pause = 0 if self.readings or changed or now - self.heard <= ATTENTION else KEEPALIVE - seconds / 2
        if now - self.told < pause:
            return []
        reports = self.packets or int(listening and since_packet < now - self.told)
        entries, messages = list(self.readings.items()), []
        for first in range(0, len(entries) or 1, MOST_BEACONS):
            beacons = ",".join(self._reading(*entry, now) for entry in entries[first:first + MOST_BEACONS])
            messages.append(
                f'{{"v":1,"boot":"{self.boot}","seq":{self.sequence},"at":{int(now * 1000)},"listening":'
                f'{min(int(seconds * 1000), 1000) if listening else 0},"reports":{reports},"beacons":[{beacons}]}}'.encode())
            self.sequence += 1
        self.readings, self.packets, self.told = {}, 0, now
        return messages

    @staticmethod
    def _reading(beacon: str, reading: tuple[list[int], int, float], now: float) -> str:
        levels, power, last = reading
        age = min(max(0, int(now * 1000) - int(last * 1000)), 60_000)
        return (f'{{"id":"{beacon}","n":{len(levels)},"rssi":{statistics.median_low(levels)},"max":{max(levels)},'
                f'"power":{power},"age":{age}}}')


def receiver(source: str) -> str:
    """The name in topics of the scanner with this address. It stays when the scanner gets another name or room."""
    return "ha-" + "".join(filter(str.isalnum, source.lower()))
