#!/usr/bin/env python3
"""A client of the Bluetooth proxy, as Home Assistant is one: aioesphomeapi. Prints one line of JSON.

usage: client.py listen PORT KEY SECONDS   subscribes, and tells what came within this time, or since the last packet of the feed
       client.py window PORT KEY SECONDS   the same, and asks for a window of active scan at once, which it does not end
       client.py refused PORT KEY          tells how a connection with this key fails; `-` for none
       client.py dialled KEY               waits at Home Assistant's port 6054 for the proxy to dial, twice
"""
import asyncio
import json
import struct
import sys
import time

from aioesphomeapi import APIClient, APIConnectionError, BluetoothScannerMode, ReconnectLogic
from aioesphomeapi.outgoing_connection import OutgoingConnectionServer

HEAD = bytes.fromhex("02011a1aff4c000215")
# The scan response of Tests/VirtualHost/scenarios/38-proxy-restarts.sh.
ANSWER = bytes.fromhex("020a00")


def client(port, key, **more):
    return APIClient("127.0.0.1", port, None, noise_psk=None if key == "-" else key, client_info="Home Assistant test", **more)


class Received:
    """The packets of the feed: each has its number and its time."""

    def __init__(self):
        self.numbers, self.delays, self.twice, self.other, self.answers = set(), [], 0, 0, 0

    def add(self, message):
        now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        for packet in message.advertisements:
            if not packet.data.startswith(HEAD):
                self.other += 1
                self.answers += packet.data == ANSWER
                continue
            number, sent = struct.unpack_from(">QQ", packet.data, len(HEAD))
            self.twice += number in self.numbers
            self.numbers.add(number)
            self.delays.append((now - sent) / 1e6)

    def report(self):
        delays = sorted(self.delays) or [0]
        return {
            "received": len(self.numbers), "twice": self.twice, "other": self.other,
            "p50_ms": round(delays[len(delays) // 2], 2), "p99_ms": round(delays[len(delays) * 99 // 100], 2),
            "most_ms": round(delays[-1], 2),
        }


async def listen(port, key, seconds, asks=False):
    api, received, states = client(port, key), Received(), []
    await api.connect(login=True)
    info, (entities, services) = await api.device_info(), await api.list_entities_services()
    api.subscribe_bluetooth_scanner_state(states.append)
    api.subscribe_bluetooth_le_raw_advertisements(received.add)
    began = time.monotonic()
    while not states and time.monotonic() - began < 5:
        await asyncio.sleep(0.01)
    print(json.dumps({
        "name": info.name, "mac": info.mac_address, "flags": info.bluetooth_proxy_feature_flags_compat(api.api_version),
        "bluetooth_mac": info.bluetooth_mac_address, "area": info.suggested_area, "project": info.project_name,
        "api": f"{api.api_version.major}.{api.api_version.minor}", "entities": len(entities) + len(services),
        "state": int(states[0].state) if states else None,
    }), flush=True)
    begin = time.process_time()
    if asks:
        api.bluetooth_scanner_set_mode(BluetoothScannerMode.ACTIVE)
    await asyncio.sleep(seconds)
    more = {"answers": received.answers, "modes": [int(state.mode) for state in states], "configured": [int(state.configured_mode) for state in states]} if asks else {}
    print(json.dumps({**received.report(), **more, "cpu_ms": round((time.process_time() - begin) * 1000)}), flush=True)
    await api.disconnect()


async def refused(port, key):
    try:
        await client(port, key).connect(login=True)
        print(json.dumps("connected"))
    except APIConnectionError as error:
        print(json.dumps(type(error).__name__))


async def dialled(key):
    """The proxy is not reachable: port 1 refuses. So only what it dials itself can become a session."""
    api, connected = client(1, key, outgoing_connection_target=True), asyncio.Queue()

    async def on_connect():
        await connected.put((time.monotonic(), (await api.device_info()).name))

    async def on_disconnect(expected):
        pass

    logic = ReconnectLogic(client=api, on_connect=on_connect, on_disconnect=on_disconnect, name="probe", zeroconf_wake=False)
    await logic.start()
    server = OutgoingConnectionServer()
    server.register("B8:27:EB:00:11:22", logic)
    began = time.monotonic()
    print(json.dumps("waiting"), flush=True)
    times = []
    for _ in range(2):
        at, name = await asyncio.wait_for(connected.get(), 40)
        times.append(round(at - began, 2))
        began = time.monotonic()
        await api.disconnect(force=True)
    print(json.dumps({"name": name, "seconds": times}), flush=True)


VERBS = {"listen": lambda w: listen(int(w[0]), w[1], float(w[2])), "window": lambda w: listen(int(w[0]), w[1], float(w[2]), asks=True),
         "refused": lambda w: refused(int(w[0]), w[1]), "dialled": lambda w: dialled(w[0])}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in VERBS:
        sys.exit(__doc__)
    asyncio.run(VERBS[sys.argv[1]](sys.argv[2:]))
