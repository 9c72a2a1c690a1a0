"""What qemu's user network does for its machine: who connects to a port of ADDRESS reaches the same port of 127.0.0.1.

usage: relay.py ADDRESS PORT...   until it is ended
"""
import asyncio
import sys


async def carry(reader, writer):
    """Passes on what comes, and that no more will come."""
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.close()


async def relay(port, reader, writer):
    try:
        other_reader, other_writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        writer.close()
        return
    await asyncio.gather(carry(reader, other_writer), carry(other_reader, writer))
    other_writer.close()
    writer.close()


async def main(address, ports):
    for port in ports:
        await asyncio.start_server(lambda reader, writer, port=port: relay(port, reader, writer), address, port)
    await asyncio.Event().wait()


asyncio.run(main(sys.argv[1], [int(word) for word in sys.argv[2:]]))
