#!/usr/bin/env python3
"""Many watchers and many requests at once. usage: load.py DEMO [SECONDS [STREAMS [REQUESTS_PER_SECOND]]]

Prints how late transitions reach a watcher, how many requests were answered, and the memory of the server.
"""
import asyncio, subprocess, sys, time
seconds, streams, rate = (int(sys.argv[i]) if len(sys.argv) > i else d for i, d in ((2, 30), (3, 200), (4, 1000)))
demo = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
port = int(demo.stdout.readline())
sent, late, answered, bad = {}, [], 0, 0


def rss():
    with open(f"/proc/{demo.pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


async def watch(first):
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
    writer.write(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    while True:
        data = await reader.read(1 << 18)
        if not data:
            return
        if first:
            for mark, at in list(sent.items()):
                if mark in data:
                    late.append(time.monotonic() - at)
                    del sent[mark]


async def ask(each):
    global answered, bad
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        writer.write(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r")[0])
        await reader.readexactly(length)
        answered += 1
        bad += not head.startswith(b"HTTP/1.1 200")
        await asyncio.sleep(max(0, each - (time.monotonic() - began)))


async def main():
    watchers = [asyncio.create_task(watch(n == 0)) for n in range(streams)]
    await asyncio.sleep(1)
    before, workers = rss(), 40
    tasks = [asyncio.create_task(ask(workers / rate)) for _ in range(workers)]
    end, n = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        n += 1
        mark = b"mark-%d-" % n
        sent[mark] = time.monotonic()
        demo.stdin.write(b"name b4b412 " + mark + b"\n")
        demo.stdin.flush()
        await asyncio.sleep(0.5)
    await asyncio.gather(*tasks)
    await asyncio.sleep(0.5)
    late.sort()
    print(f"{streams} streams, {answered / seconds:.0f} requests/s answered ({bad} not with 200), "
          f"{len(late)} of {n} changes seen, median {late[len(late) // 2] * 1000:.0f} ms, "
          f"worst {late[-1] * 1000:.0f} ms, RSS {before} kB -> {rss()} kB")
    for watcher in watchers:
        watcher.cancel()
    assert len(late) == n and bad == 0

try:
    asyncio.run(main())
finally:
    demo.stdin.close()
    demo.wait(10)
