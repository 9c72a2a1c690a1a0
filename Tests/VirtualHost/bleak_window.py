"""What a scanner based on bleak notices of another program's discovery: when its first report comes, and when it has begun.

usage: bleak_window.py NAME SECONDS
"""
import asyncio
import sys
import time

from bleak import BleakScanner

name, seconds = sys.argv[1], float(sys.argv[2])
reports = []


async def main():
    begin = time.monotonic()

    def heard(_device, _advertisement):
        reports.append(time.monotonic() - begin)

    scanner = BleakScanner(heard)
    outcome = "begun"
    try:
        await scanner.start()
    except Exception as error:
        outcome = f"{type(error).__name__}:{error}".replace(" ", "_")
    begun = time.monotonic() - begin
    await asyncio.sleep(max(0, seconds - begun))
    first = f"{reports[0]:.1f}" if reports else "none"
    before = sum(instant < begun for instant in reports)
    if outcome == "begun":
        await scanner.stop()
    print(f"bleak {name} {outcome} after={begun:.1f} first={first} before={before} reports={len(reports)}", flush=True)


asyncio.run(main())
