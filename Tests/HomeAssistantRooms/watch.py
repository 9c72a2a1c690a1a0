"""Prints each new state of entities of Home Assistant, as it comes: a line of JSON, [time, entity, state], by the computer's clock.

usage: watch.py URL TOKEN_FILE ENTITY...

Needs: aiohttp, which Home Assistant has.
"""
import asyncio
import json
import pathlib
import sys
import time

import aiohttp


async def main():
    url, token, *entities = sys.argv[1:]
    async with aiohttp.ClientSession() as session, session.ws_connect(f"{url}/api/websocket", max_msg_size=0) as socket:
        await socket.receive_json()
        await socket.send_json({"type": "auth", "access_token": pathlib.Path(token).read_text().strip()})
        await socket.receive_json()
        await socket.send_json({"id": 1, "type": "subscribe_trigger", "trigger": {"platform": "state", "entity_id": entities}})
        async for message in socket:
            answer = message.json()
            if answer["type"] == "event":
                new = answer["event"]["variables"]["trigger"]["to_state"]
                print(json.dumps([time.time(), new["entity_id"], new["state"]]), flush=True)


asyncio.run(main())
