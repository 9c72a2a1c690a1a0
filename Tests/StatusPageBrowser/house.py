"""A broker, and gateways of a house that say what a test has them say."""
import json, os, shutil, subprocess, threading, time

uuid = "CA271EAE-5FA8-4E80-8F08-2A302A95A959"


def free_port():
    import socket
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(*command):
    """Until the command succeeds, for at most 90 s."""
    for _ in range(900):
        if subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            return
        time.sleep(0.1)
    raise SystemExit(f"never succeeded: {' '.join(command)}")


class Broker:
    """A mosquitto of its own, that can be stopped and started again."""

    def __init__(self, folder):
        self.port, self.process = free_port(), None
        self.file = os.path.join(folder, "mosquitto.conf")
        with open(self.file, "w") as file:
            file.write(f"listener {self.port} 127.0.0.1\nallow_anonymous true\n")

    def start(self):
        self.process = subprocess.Popen([shutil.which("mosquitto") or "/usr/sbin/mosquitto", "-c", self.file],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for("mosquitto_pub", "-p", str(self.port), "-t", "ready", "-m", "yes")

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(10)

    def publish(self, topic, payload, *options):
        """A payload that is no text is sent as JSON."""
        text = payload if isinstance(payload, str) else json.dumps(payload)
        subprocess.run(["mosquitto_pub", "-p", str(self.port), "-q", "1", "-t", topic, "-s", *options], input=text,
                       text=True, check=True)


class House:
    """Gateways, one in each room, and tags that are carried about."""
    rooms = ["Kitchen", "Hall", "Bath"]
    levels = [[-50, -75, -85], [-72, -52, -70], [-86, -74, -50]]

    def __init__(self, broker, rooms=None):
        if rooms:
            self.rooms = rooms
            self.levels = [[max(-95, -50 - 12 * abs(room - gateway)) for gateway in range(len(rooms))]
                           for room in range(len(rooms))]
        self.places = {}      # minor of a tag: number of its room
        self.others = {}      # the same of a beacon that is no tag
        self.batteries = {}   # what a tag says of its battery, per cent
        self.silent = set()   # gateways that send nothing
        self.pipes, self.nearby = [[subprocess.Popen(
            ["mosquitto_pub", "-p", str(broker.port), "-q", "1", "-l", "-t", f"ibeacon-rooms/home/{kind}/g{gateway}"],
            stdin=subprocess.PIPE) for gateway in range(len(self.rooms))] for kind in ("heard", "nearby")]
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        second = 100
        while not self.ended.wait(1):
            second += 1
            for gateway, pipe in enumerate(self.pipes):
                if gateway in self.silent:
                    continue
                beacons = [{"id": f"{uuid}:1:{minor}", "n": 3,
                            "rssi": self.levels[room][gateway] + (second * 7 + minor * 3) % 5 - 2, "power": -59, "age": 100,
                            **({"battery": self.batteries[minor]} if minor in self.batteries else {})}
                           for minor, room in dict(self.places).items() if self.levels[room][gateway] > -95]
                message = {"v": 1, "boot": "b", "seq": second, "at": second * 1000, "listening": 1000, "reports": 40,
                           "beacons": beacons}
                others = [{"id": f"{uuid}:2:{minor}", "rssi": self.levels[room][gateway], "region": "Bikes"}
                          for minor, room in dict(self.others).items()]
                try:
                    for to, what in ((pipe, message), (self.nearby[gateway], {"v": 1, "beacons": others})):
                        to.stdin.write(json.dumps(what).encode() + b"\n")
                        to.stdin.flush()
                except BrokenPipeError:
                    return

    def end(self):
        self.ended.set()
        self.thread.join()
        for pipe in self.pipes + self.nearby:
            # Without a broker it would try to reach one for ever.
            pipe.kill()
            pipe.wait(90)
