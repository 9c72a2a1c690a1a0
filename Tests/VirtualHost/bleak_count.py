"""Counts iBeacon reports that a scanner based on bleak gets from bluetoothd, until SIGTERM."""
import asyncio
import signal

from bleak import BleakScanner

reports = 0


def heard(_device, advertisement):
    global reports
    if advertisement.manufacturer_data.get(0x004C, b"").startswith(b"\x02\x15"):
        reports += 1


async def main():
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    async with BleakScanner(heard):
        print("ready", flush=True)
        await ended.wait()


asyncio.run(main())
print(f"count bleak reports={reports}")
