"""What others do to the machine: rows 7 and 12."""
import socket
import subprocess
import threading
import time

from rig import JANE, SITE, NotTried, Site, end, launch, parsed, tag


LEAST_FLOOD = 5_000  # messages a second


def flood(lab):
    """One `mosquitto_pub` sends readings of an invented gateway as fast as it can, for 30 s, at a site with a standby."""
    lab.broker("sys_interval 1")
    site = Site(lab)
    site.settle_in("kitchen")
    second = lab.service("b", [tag("Jane", JANE)]).start()
    if second.says("connected") is None:
        raise NotTried("the second service did not start")
    time.sleep(6)
    idle = slowest_page(site.service, 2)
    lines = "".join(f'{{"v":1,"boot":"f","seq":{number},"at":{number}000,"listening":1000,"reports":40,"beacons":[]}}\n'
                    for number in range(1, 200_000)).encode()
    counter = lab.client("counter", "$SYS/broker/publish/messages/received")
    sender = launch(["mosquitto_pub", "-h", "127.0.0.1", "-p", str(lab.port), "-t", f"{SITE}/heard/flood", "-l"],
                    stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lab.cleanup.append(lambda: end(sender))
    threading.Thread(target=feed, args=(sender, lines, time.monotonic() + 60), daemon=True).start()
    begin = time.monotonic()
    time.sleep(2)
    slowest = slowest_page(site.service, 28)
    took_over = sum(1 for message in list(site.eye.messages) if message.topic == f"{SITE}/service/b" and message.at > begin and
                    parsed(message.payload).get("active") is True)
    still = sender.poll() is None
    stopping = site.service.stop()
    end(sender)
    counter.settle()
    counts = [(message.at, int(message.payload)) for message in counter.messages if begin < message.at < begin + 30]
    rate = (counts[-1][1] - counts[0][1]) / (counts[-1][0] - counts[0][0]) if len(counts) > 1 else 0
    if not still:
        raise NotTried("the flood ended early")
    # Less is no flood: the machine was busy with other things.
    return (f"{rate:.0f} messages a second; the page within {slowest:.2f} s (idle {idle:.2f}), SIGTERM within {stopping:.2f} s, "
            f"the standby {'took over' if took_over else 'stayed'}; longest turn {site.service.longest_turn} ms",
            slowest <= 1 and stopping <= 1 and not took_over and rate >= LEAST_FLOOD)


def feed(sender, lines, deadline):
    """Writes to the program as fast as it reads, until it ends."""
    try:
        while time.monotonic() < deadline:
            sender.stdin.write(lines)
    except OSError:
        pass


def slowest_page(service, duration):
    """The longest that the page took to answer, asked four times a second."""
    slowest, deadline = 0.0, time.monotonic() + duration
    while time.monotonic() < deadline:
        begin = time.monotonic()
        try:
            service.fetch("/status.json", limit=10)
        except (OSError, TimeoutError):
            slowest = max(slowest, 10.0)
        slowest = max(slowest, time.monotonic() - begin)
        time.sleep(0.25)
    return slowest


class Listener:
    """Another user's program on the port of the page. It keeps what it is sent, and drips an answer for at most 60 s."""

    def __init__(self, port):
        self.got, self.closed = b"", False
        self.server = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self._drip, args=(client,), daemon=True).start()

    def _drip(self, client):
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\nContent-Type: application/json\r\n\r\n{" + b" " * 50
        try:
            self.got += client.recv(65536)
            for byte in answer[:60]:
                if self.closed:
                    break
                client.sendall(bytes([byte]))
                time.sleep(1)
            client.close()
        except OSError:
            pass

    def close(self):
        self.closed = True
        self.server.close()


def another_listener(lab):
    """The gateway is down, and another program listens on the port of its page. Root asks for its status."""
    gateway = lab.gateway("hall", [], scanner={"capture": "/dev/null"})
    token = gateway.tell("status", "--token").strip()
    if len(token) < 16:
        raise NotTried("there is no token")
    listener = Listener(gateway.page)
    lab.cleanup.append(listener.close)
    slowest, told = 0.0, False
    for words in (["status"], ["status", "--json"], ["doctor", "--listen", "0"]):
        begin = time.monotonic()
        gateway.ask(*words, limit=75)
        slowest = max(slowest, time.monotonic() - begin)
        told = told or token.encode() in listener.got
    return (f"the token is {'sent' if told else 'kept'}; a command is held for {slowest:.1f} s", not told and slowest <= 6)


def another_listener_rooms(lab):
    """The same on the port of the rooms service's page: `rooms status`."""
    site = Site(lab)
    site.settle_in("kitchen")
    site.service.stop()
    token = site.service.ask("status", "--token")[0].strip()
    listener = Listener(site.service.page)
    lab.cleanup.append(listener.close)
    begin = time.monotonic()
    site.service.ask("rooms", "status", limit=75)
    took = time.monotonic() - begin
    told = len(token) >= 16 and token.encode() in listener.got
    return f"the token is {'sent' if told else 'kept'}; 'rooms status' is held for {took:.1f} s", not told and took <= 6
