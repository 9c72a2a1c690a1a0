"""Prints what Home Assistant's scanners hear, a line of JSON for each packet that Home Assistant takes for new: when, from whom, through
which scanner, and its data.

usage: heard.py URL TOKEN_FILE SECONDS

Needs: aiohttp, which Home Assistant has. It tries again until Home Assistant answers.
"""
import asyncio
import json
import pathlib
import sys
import time

import aiohttp


async def follow(session, url, token):
    async with session.ws_connect(f"{url}/api/websocket", max_msg_size=0) as socket:
        await socket.receive_json()
        await socket.send_json({"type": "auth", "access_token": token})
        await socket.receive_json()
        await socket.send_json({"id": 1, "type": "bluetooth/subscribe_advertisements"})
        while True:
            message = await socket.receive_json()
            for packet in message.get("event", {}).get("add", []):
                print(json.dumps({
                    "at": time.time(), "address": packet["address"], "source": packet["source"], "rssi": packet["rssi"],
                    "service": packet["service_data"], "maker": packet["manufacturer_data"]}), flush=True)


async def main():
    url, token, seconds = sys.argv[1], pathlib.Path(sys.argv[2]), float(sys.argv[3])
    end = time.monotonic() + seconds
    async with aiohttp.ClientSession() as session:
        while time.monotonic() < end:
            try:
                async with asyncio.timeout(max(0, end - time.monotonic())):
                    await follow(session, url, token.read_text().strip())
            except (aiohttp.ClientError, OSError, TypeError, ValueError, TimeoutError):
                await asyncio.sleep(0.05)


asyncio.run(main())
