"""ESPHome Bluetooth proxies, a room each, that hear tags: the device's side of ESPHome's native API.

usage: proxies.py PORT KEY TAG_UUID ROOM...     the first room's proxy listens on PORT, the next one on PORT + 1, and so on; NAME=ROOM
                                                names one of several proxies of a room

Commands come as lines on standard input, and each is answered by a line of JSON on standard output:
  put N ROOM     tag N (its minor number; `bike` has a fixed address, `phone` a private one) is in the room; `-`: it is silent
  rate HZ        packets of each tag in a second
  down ROOM      the proxy is switched off; `up ROOM`: on again
  play N FILE    what tag N was heard with in a recording (such as one of Benchmarks/recordings, unpacked), whose gateways are the proxies of the same names; a minute
                 lies between two of its sessions
  truth          where the tag that is played was in truth: [[time, session, room or null], …] by the computer's clock, and at last `end`
  sent           how many packets of tags each proxy has sent so far, by room

Needs: noiseprotocol and aioesphomeapi, of whose description of the protocol (api_pb2) this uses the messages.
"""
import asyncio
import base64
import json
import random
import struct
import sys
import time
import uuid

from aioesphomeapi import api_pb2 as api
from aioesphomeapi.core import MESSAGE_TYPE_TO_PROTO
from noise.connection import NoiseConnection

NUMBERS = {message: number for number, message in MESSAGE_TYPE_TO_PROTO.items()}
# Passive scans, raw packets, state and mode of the scanner.
FEATURES = 1 | 32 | 64
# Home Assistant stamps packets when they arrive.
BATCH_SECONDS = 0.02
HEADPHONES = 0xC10000001000
chance = random.Random(58)


class Session:
    """One client of a proxy."""

    def __init__(self, proxy, reader, writer):
        self.proxy, self.reader, self.writer, self.noise, self.is_subscribed = proxy, reader, writer, None, False

    async def frame(self):
        marker, high, low = await self.reader.readexactly(3)
        if marker != 1:
            # As ESPHome answers a client that tries it without encryption.
            self.write(b"\x01Bad indicator byte")
            await self.writer.drain()
            raise ConnectionError("a client without encryption")
        return await self.reader.readexactly(high << 8 | low)

    def write(self, data):
        self.writer.write(bytes((1, len(data) >> 8, len(data) & 255)) + data)

    def send(self, message):
        data = message.SerializeToString()
        self.write(self.noise.encrypt(struct.pack(">HH", NUMBERS[type(message)], len(data)) + data))

    async def greet(self):
        """The handshake. A client with another key is refused with these words of ESPHome."""
        await self.frame()
        self.write(b"\x01" + self.proxy.name.encode() + b"\0" + self.proxy.mac.replace(":", "").lower().encode() + b"\0")
        first = await self.frame()
        noise = NoiseConnection.from_name(b"Noise_NNpsk0_25519_ChaChaPoly_SHA256")
        noise.set_as_responder()
        noise.set_psks(self.proxy.key)
        noise.set_prologue(b"NoiseAPIInit\0\0")
        noise.start_handshake()
        try:
            noise.read_message(first[1:])
        except Exception:  # the library's errors have no common class
            self.write(b"\x01Handshake MAC failure")
            await self.writer.drain()
            raise ConnectionError("another key") from None
        self.write(b"\0" + noise.write_message())
        self.noise = noise

    async def serve(self):
        await self.greet()
        while True:
            packet = self.noise.decrypt(await self.frame())
            kind = MESSAGE_TYPE_TO_PROTO.get(struct.unpack(">H", packet[:2])[0])
            message = kind() if kind else None
            if message is not None:
                message.ParseFromString(packet[4:])
                self.answer(message)
            await self.writer.drain()
            if kind is api.DisconnectRequest:
                return

    def answer(self, message):
        match message:
            case api.HelloRequest():
                self.send(api.HelloResponse(api_version_major=1, api_version_minor=14, server_info="test", name=self.proxy.name))
            case api.DisconnectRequest():
                self.send(api.DisconnectResponse())
            case api.PingRequest():
                self.send(api.PingResponse())
            case api.DeviceInfoRequest():
                self.send(self.proxy.description())
            case api.ListEntitiesRequest():
                self.send(api.ListEntitiesDoneResponse())
            case api.SubscribeBluetoothLEAdvertisementsRequest():
                # Without the state at once the client takes the subscription for refused.
                self.scanner_state(0)
                self.is_subscribed = True
            case api.UnsubscribeBluetoothLEAdvertisementsRequest():
                self.is_subscribed = False
            case api.BluetoothScannerSetModeRequest():
                self.scanner_state(message.mode)

    def scanner_state(self, mode):
        self.send(api.BluetoothScannerStateResponse(state=2, mode=mode, configured_mode=0))


class Proxy:
    """A proxy in a room."""

    def __init__(self, number, name, room, port, key):
        self.room, self.port, self.key, self.server, self.sessions, self.sent = room, port, key, None, set(), 0
        self.name = f"proxy-{name.lower().replace(' ', '-')}"
        # As of an ESP32, whose Bluetooth address is that of its Wi-Fi plus 2. Bermuda takes addresses that are as near for one device.
        self.mac, self.source = (f"B8:27:EB:{number:02X}:00:{last}" for last in ("10", "12"))

    def description(self):
        return api.DeviceInfoResponse(
            name=self.name, friendly_name=f"{self.room} proxy", mac_address=self.mac, esphome_version="2026.11.0", model="test",
            manufacturer="Espressif", bluetooth_proxy_feature_flags=FEATURES, bluetooth_mac_address=self.source,
            suggested_area="" if self.room.startswith("No ") else self.room, api_encryption_supported=True)

    async def up(self):
        self.server = await asyncio.start_server(self.accept, "127.0.0.1", self.port)

    async def down(self):
        self.server.close()
        for session in list(self.sessions):
            session.writer.transport.abort()

    async def accept(self, reader, writer):
        session = Session(self, reader, writer)
        self.sessions.add(session)
        try:
            await session.serve()
        except (OSError, EOFError, ValueError):
            pass
        finally:
            self.sessions.discard(session)
            writer.close()

    def hear(self, packets):
        """Passes packets on: (address, level, data). Only the first client counts as one that they were sent to."""
        listeners = [session for session in self.sessions if session.is_subscribed]
        for session in listeners:
            message = api.BluetoothLERawAdvertisementsResponse()
            for address, level, data in packets:
                message.advertisements.add(address=address, rssi=level, address_type=1, data=data)
            session.send(message)
        return bool(listeners)


async def main():
    port, key, tag = int(sys.argv[1]), base64.b64decode(sys.argv[2]), uuid.UUID(sys.argv[3])
    named = [(word.partition("=")[0], word.rpartition("=")[2]) for word in sys.argv[4:]]
    rooms = [name for name, _ in named]
    proxies = {name: Proxy(number, name, room, port + number, key) for number, (name, room) in enumerate(named)}
    for proxy in proxies.values():
        await proxy.up()
    places, rate, truth = {}, [5.0], []

    def packet(name):
        """The address and the data of a tag."""
        if name == "bike":
            return 0xC0FFEE000001, bytes.fromhex("0201060303aafe")
        if name == "phone":
            # Made of the key EC0234A357C8AD05341010A60A397D9B; what a phone sends beside.
            return 0x70819AD3867C, bytes.fromhex("02011a0aff4c001005031c000000")
        return 0xC00000000000 | int(name), bytes.fromhex("02011a1aff4c000215") + tag.bytes + struct.pack(">HHb", 1, int(name), -59)

    async def advertise():
        begin, steps = time.monotonic(), 0
        due = {}
        while True:
            steps += 1
            await asyncio.sleep(max(0, begin + steps * BATCH_SECONDS - time.monotonic()))
            heard = {room: [] for room in rooms}
            now = time.monotonic()
            for number, place in places.items():
                if place == "-" or due.setdefault(number, now + chance.random() / rate[0]) > now:
                    continue
                due[number] = max(due[number] + 1 / rate[0], now - 1)
                address, data = packet(number)
                for room in rooms:
                    level = -55 if room == place else -78
                    heard[room].append((address, round(level + chance.gauss(0, 3)), data))
            if steps % 50 == 0:
                # Somebody's headphones, which is no tag: a sign of life of each proxy.
                for room in rooms:
                    heard[room].append((HEADPHONES, -90, bytes.fromhex("02011a0303") + b"\x12\x18"))
            for room, packets in heard.items():
                if packets and proxies[room].hear(packets):
                    proxies[room].sent += sum(address != HEADPHONES for address, _, _ in packets)

    async def play(number, file):
        address, data = packet(number)
        session, room, begin = None, None, 0
        with open(file) as lines:
            rows = [line.rstrip("\n").split(",") for line in lines if not line.startswith("#")]
        names = [field.partition("=")[0] for field in rows.pop(0)[1:]]
        for row in rows:
            at = float(row[1])
            if row[0] != session:
                if session is not None:
                    truth.append([time.time(), session, None])
                    await asyncio.sleep(60)
                session, room, begin = row[0], None, time.monotonic() - at
            await asyncio.sleep(max(0, begin + at - time.monotonic()))
            if row[2] != room:
                room = row[2]
                truth.append([time.time(), session, room])
            for name, level in zip(names, row[3:]):
                if level:
                    proxies[name].hear([(address, round(float(level)), data)])
        truth.append([time.time(), session, None])
        truth.append("end")

    task = asyncio.create_task(advertise())
    task.add_done_callback(lambda done: done.cancelled() or sys.exit(f"advertising ended: {done.exception()!r}"))
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    print(json.dumps({room: [proxy.port, proxy.source] for room, proxy in proxies.items()}), flush=True)
    while line := (await lines.readline()).decode().split(maxsplit=2):
        answer = True
        match line:
            case ["put", number, room]:
                places[number] = room.strip()
            case ["rate", hertz]:
                rate[0] = float(hertz)
            case ["down", *room]:
                await proxies[" ".join(room).strip()].down()
            case ["up", *room]:
                await proxies[" ".join(room).strip()].up()
            case ["play", number, file]:
                playing = asyncio.create_task(play(number, file.strip()))
                playing.add_done_callback(lambda done: done.cancelled() or not done.exception() or sys.exit(repr(done.exception())))
            case ["truth"]:
                answer = truth
            case ["sent"]:
                answer = {room: proxy.sent for room, proxy in proxies.items()}
        print(json.dumps(answer), flush=True)
    task.cancel()


asyncio.run(main())
