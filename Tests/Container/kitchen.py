"""Prints what a gateway in the kitchen says that hears the tag of the test each second, for half a minute: TOPIC PAYLOAD, a line each.

usage: kitchen.py
"""
import json

BEACON = "CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:1"
print("gateway/k", json.dumps({"v": 1, "room": "Kitchen"}))
for second in range(1, 31):
    print("heard/k", json.dumps({
        "v": 1, "boot": "b", "seq": second, "at": second * 1000, "listening": 1000, "reports": 4,
        "beacons": [{"id": BEACON, "n": 3, "rssi": -50, "max": -48, "power": -59, "age": 0}]}), flush=True)
