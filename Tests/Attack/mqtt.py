"""A client for MQTT 3.1.1 that says what the rows have it say, and keeps what it hears. QoS 0 is enough on one machine."""
import collections
import socket
import struct
import threading
import time

Message = collections.namedtuple("Message", "at topic payload retained")


def text(value):
    data = value.encode()
    return struct.pack(">H", len(data)) + data


def packet(kind, body):
    length, size = b"", len(body)
    while True:
        size, digit = size >> 7, size & 127
        length += bytes([digit | (128 if size else 0)])
        if not size:
            return bytes([kind]) + length + body


def publication(topic, payload, retain=False):
    return packet(0x31 if retain else 0x30, text(topic) + (payload if isinstance(payload, bytes) else payload.encode()))


class Client:
    """Connected and subscribed when it is made. All threads may publish."""

    def __init__(self, port, name, filters=()):
        self.name, self.messages, self.latest, self.changed = name, [], {}, threading.Condition()
        self.settled = 0
        self.sending = threading.Lock()
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall(packet(0x10, text("MQTT") + b"\4\2\0\0" + text(name)))
        if self.socket.recv(4)[3:] != b"\0":
            raise OSError("the broker refuses the connection")
        self.socket.settimeout(None)
        topics = b"".join(text(topic) + b"\0" for topic in (f"attack/{name}", *filters))
        self.socket.sendall(packet(0x82, b"\0\1" + topics))
        threading.Thread(target=self._receive, daemon=True).start()
        self.settle()

    def close(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()

    def publish(self, topic, payload, retain=False):
        self.send(publication(topic, payload, retain))

    def send(self, data):
        with self.sending:
            self.socket.sendall(data)

    def settle(self, limit=60):
        """Waits until the broker has given this client what was published before."""
        with self.changed:
            before = self.settled
            self.publish(f"attack/{self.name}", b"")
            if not self.changed.wait_for(lambda: self.settled > before, limit):
                raise OSError(f"the broker does not answer within {limit} s")

    def count(self, matches):
        return sum(1 for message in list(self.messages) if matches(message))

    def _receive(self):
        data, at = bytearray(), 0
        while True:
            try:
                chunk = self.socket.recv(1 << 18)
            except OSError:
                return
            if not chunk:
                return
            del data[:at]
            at = 0
            data += chunk
            while (end := self._end(data, at)) is not None:
                first, body, end = end
                if first & 0xF0 == 0x30:
                    self._take(first, bytes(data[body:end]))
                at = end

    @staticmethod
    def _end(data, at):
        """The first byte of the packet at AT, where its body begins and where it ends; None: it is not whole."""
        size, shift, body = 0, 0, at + 1
        while body < len(data):
            size |= (data[body] & 127) << shift
            shift, body = shift + 7, body + 1
            if data[body - 1] < 128:
                return (data[at], body, body + size) if body + size <= len(data) else None
        return None

    def _take(self, first, body):
        length = struct.unpack(">H", body[:2])[0]
        message = Message(time.monotonic(), body[2:2 + length].decode("utf-8", "replace"), body[2 + length:], bool(first & 1))
        with self.changed:
            if message.topic == f"attack/{self.name}":
                self.settled += 1
            else:
                self.messages.append(message)
                self.latest[message.topic] = message.payload
            self.changed.notify_all()
