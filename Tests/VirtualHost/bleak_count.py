"""Counts iBeacon reports that a scanner based on bleak gets from bluetoothd. Usage: bleak_count.py SECONDS"""
import asyncio
import sys

from bleak import BleakScanner

reports = 0


def heard(_device, advertisement):
    global reports
    if advertisement.manufacturer_data.get(0x004C, b"").startswith(b"\x02\x15"):
        reports += 1


async def main():
    async with BleakScanner(heard):
        await asyncio.sleep(float(sys.argv[1]))


asyncio.run(main())
print(f"count bleak reports={reports}")
