"""Sends commands to Home Assistant's websocket and prints their results, a line of JSON for each.

usage: ask.py URL TOKEN_FILE COMMAND...     each COMMAND is JSON such as {"type": "config_entries/get"}

Needs: aiohttp, which Home Assistant has.
"""
import asyncio
import json
import pathlib
import sys

import aiohttp


async def main():
    url, token, *commands = sys.argv[1:]
    async with aiohttp.ClientSession() as session, session.ws_connect(f"{url}/api/websocket", max_msg_size=0) as socket:
        await socket.receive_json()
        await socket.send_json({"type": "auth", "access_token": pathlib.Path(token).read_text().strip()})
        await socket.receive_json()
        for number, command in enumerate(commands, 1):
            await socket.send_json({"id": number, **json.loads(command)})
            while (answer := await socket.receive_json()).get("id") != number or answer["type"] != "result":
                pass
            print(json.dumps(answer["result"] if answer["success"] else {"error": answer["error"]}))


asyncio.run(main())
