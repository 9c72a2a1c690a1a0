"""The rigs of the attacks: a broker, the program, simulated gateways, a false clock, a terminal that records. Each part of a row
has a `Lab` of its own, with a folder of its own and a broker on a free port of the loopback interface."""
import json
import os
import pty
import random
import re
import select
import signal
import socket
import subprocess
import threading
import time

from mqtt import Client

UUID = "FDA50693-A4E2-4FB1-AFCF-C6EB07647825"  # that of Tests/Fixtures/recording.py
JANE, BOB, KEYS = 7, 8, 9  # minors of tags
SITE = "ibeacon-rooms/home"


class NotTried(Exception):
    """What the row needs did not come about, so the attack says nothing."""


RUNNING = []  # what runs, or ran, until its row is over


def launch(words, stdin=subprocess.DEVNULL, **options):
    process = subprocess.Popen(words, stdin=stdin, **options)
    RUNNING.append(process)
    return process


def tag(name, minor):
    return f"{name}:{UUID}:1:{minor}"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait(condition, limit, pause=0.05):
    """How many seconds it took until the condition held; None if it did not within the limit."""
    begin = time.monotonic()
    while True:
        if condition():
            return time.monotonic() - begin
        if time.monotonic() - begin > limit:
            return None
        time.sleep(pause)


def need(condition, limit, what, pause=0.05):
    """Ends the row as not tried unless the condition comes to hold."""
    took = wait(condition, limit, pause)
    if took is None:
        raise NotTried(f"{what} not within {limit} s")
    return took


def seconds(took):
    return "never" if took is None else f"after {took:.1f} s"


class Lab:
    """What one part of a row runs. `with` ends all of it."""

    def __init__(self, program, preload, folder):
        self.program, self.preload, self.folder = program, preload, folder
        self.cleanup, self.port = [], None
        os.makedirs(folder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for close in reversed(self.cleanup):
            try:
                close()
            except (OSError, subprocess.SubprocessError):
                pass

    def path(self, name):
        return os.path.join(self.folder, name)

    def broker(self, *settings):
        """A real mosquitto; the rows that need other settings start it first."""
        self.port = free_port()
        with open(self.path("mosquitto.conf"), "w") as file:
            file.write("\n".join([f"listener {self.port} 127.0.0.1", "allow_anonymous true", *settings]) + "\n")
        log = open(self.path("mosquitto.log"), "w")
        process = launch(["mosquitto", "-c", self.path("mosquitto.conf")], stdout=log, stderr=log)
        self.cleanup.append(lambda: end(process))
        need(self._answers, 20, "the broker listened")

    def _answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def client(self, name, *filters):
        if self.port is None:
            self.broker()
        client = Client(self.port, name, filters)
        self.cleanup.append(client.close)
        return client

    def eye(self):
        """A client that sees what the services publish and not what gateways do."""
        states = [f"{SITE}/{kind}" for kind in ("tags", "tag/+", "room/+", "health/+", "service/+")]
        return self.client("eye", *states, "owntracks/#")

    def service(self, name="a", tags=(), clock=None, **rooms):
        """A rooms service with a state of its own. `rooms` are more members of its configuration of that name."""
        if self.port is None:
            self.broker()
        page = free_port()
        rooms = {"site": "home", "instance": name, "tags": list(tags), "http": {"listen": f"127.0.0.1:{page}"}, **rooms}
        config = {"_type": "configuration", "host": "127.0.0.1", "port": self.port, "username": "jane", "rooms": rooms}
        return Program(self, name, config, ["rooms", "run"], page, clock)

    def gateway(self, name, reports, clock=None, **config):
        """The gateway itself, with a recording as its radio. Without a broker it is offline."""
        import recording
        os.makedirs(self.path(name), exist_ok=True)
        recording.write(self.path(f"{name}/air.btsnoop"), reports)
        page = free_port()
        config = {"_type": "configuration", "host": "127.0.0.1", "port": self.port or 0, "username": "home", "deviceId": name,
                  "http": {"listen": f"127.0.0.1:{page}"}, "scanner": {"capture": self.path(f"{name}/air.btsnoop")}, **config}
        return Program(self, name, config, ["run"], page, clock)

    def clock(self, name="clock"):
        return FalseClock(self.preload, self.path(name))

    def house(self, *gateways):
        """Simulated gateways, each in a room that is called after it."""
        house = House(self.client("house"), gateways or ("kitchen", "hall", "bath"))
        self.cleanup.append(house.close)
        return house


def end(process, limit=20):
    """Ends a process of this rig: how many seconds it took."""
    if process.poll() is not None:
        return 0.0
    begin = time.monotonic()
    process.terminate()
    try:
        process.wait(limit)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return time.monotonic() - begin


class FalseClock:
    """The wall clock of programs that are started with it: seconds by which it is off (Tests/CFalseClock)."""

    def __init__(self, preload, path):
        if not preload:
            raise NotTried("there is no C compiler for Tests/CFalseClock (Scripts/install-dependencies attack)")
        self.preload, self.path = preload, path

    def set(self, off):
        with open(self.path, "w") as file:
            file.write(str(int(off)))

    @property
    def environment(self):
        return {"LD_PRELOAD": self.preload, "FALSE_CLOCK": self.path}


class Program:
    """The program as a service, and its commands with the same configuration and state."""

    def __init__(self, lab, name, config, words, page, clock):
        self.lab, self.name, self.words, self.page, self.clock = lab, name, words, page, clock
        self.folder, self.process, self.config = lab.path(name), None, config
        os.makedirs(self.path("run"), exist_ok=True)
        self.environment = {**os.environ, "RUNTIME_DIRECTORY": self.path("run"), "HOME": self.folder}
        self.configure()
        lab.cleanup.append(self.stop)

    def path(self, name):
        return os.path.join(self.folder, name)

    def configure(self, **changes):
        self.config.update(changes)
        with open(self.path("config.json"), "w") as file:
            json.dump(self.config, file)
        os.chmod(self.path("config.json"), 0o600)

    def command(self, *words):
        return [self.lab.program, "--config", self.path("config.json"), "--state-dir", self.path("state"), *words]

    def start(self):
        log = open(self.path("log"), "a")
        clock = self.clock.environment if self.clock else {}
        self.process = launch(self.command("--verbose", *self.words), stdout=log, stderr=log, env={**self.environment, **clock})
        return self

    def stop(self, limit=20):
        return end(self.process, limit) if self.process else 0.0

    def kill(self):
        self.process.kill()
        self.process.wait()

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def ask(self, *words, limit=60):
        """What a command prints, to standard output and standard error, and how it ends; 124 if the limit ends it."""
        try:
            done = subprocess.run(self.command(*words), env=self.environment, capture_output=True, stdin=subprocess.DEVNULL,
                                  timeout=limit)
            return done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"), done.returncode
        except subprocess.TimeoutExpired:
            return "", "", 124

    def tell(self, *words):
        """A command that the row needs to succeed."""
        output, complaint, code = self.ask(*words)
        if code != 0:
            raise NotTried(f"'{' '.join(words)}' ends with {code}: {complaint.strip()[-200:]}")
        return output

    def terminal(self, *words, limit=30):
        """The bytes that a command sends to a terminal."""
        command, environment = self.command(*words), self.environment
        child, descriptor = pty.fork()
        if child == 0:
            os.execve(command[0], command, environment)
        data, deadline = b"", time.monotonic() + limit
        while time.monotonic() < deadline:
            if not select.select([descriptor], [], [], 0.2)[0]:
                continue
            try:
                chunk = os.read(descriptor, 65536)
            except OSError:
                break
            if not chunk:
                break
            data += chunk
        else:
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(descriptor)
        return data

    @property
    def log(self):
        try:
            with open(self.path("log"), errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def says(self, words, limit=30):
        return wait(lambda: words in self.log, limit)

    @property
    def longest_turn(self):
        """Milliseconds of the longest turn of the loop, as the log says at the end; None if it does not."""
        turns = re.findall(r"longest turn of the loop: (\d+) ms", self.log)
        return max(map(int, turns)) if turns else None

    def memory(self):
        """Resident, in MB."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:")) / 1024

    def page_json(self, path="/status.json", limit=10):
        return json.loads(self.fetch(path, limit))

    def fetch(self, path, limit=10):
        """The body of a page, within a time for all of it."""
        import http.client
        connection = http.client.HTTPConnection("127.0.0.1", self.page, timeout=limit)
        try:
            connection.request("GET", path, headers={"Host": "localhost"})
            return connection.getresponse().read()
        finally:
            connection.close()


class Gateway:
    """One that is simulated: its clock may run slow or stand still, and its messages may wait."""

    def __init__(self, name):
        self.name, self.boot, self.sequence = name, f"{random.getrandbits(64):016x}", 0
        self.clock, self.due, self.rate = 100_000.0, 101_000.0, 1.0  # milliseconds, and how fast it runs
        self.is_on, self.quiet_for = True, 0
        self.levels = {}  # dBm by the tag's minor
        self.held = None  # messages that wait on the link: (when made, payload)

    def message(self, **changes):
        self.sequence += 1
        beacons = [{"id": f"{UUID}:1:{minor}", "n": 3, "rssi": level, "max": level, "power": -59, "age": 100}
                   for minor, level in self.levels.items()]
        return json.dumps({"v": 1, "boot": self.boot, "seq": self.sequence, "at": int(self.clock), "listening": 1000,
                           "reports": 40, "beacons": beacons, **changes}, separators=(",", ":"))


class House:
    """Gateways that publish what they hear once a second, on one connection. One that hears no tag does so every ten seconds."""

    def __init__(self, client, names):
        self.client, self.gateways, self.closed = client, {}, threading.Event()
        for name in names:
            self.add(name)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def __getitem__(self, name):
        return self.gateways[name]

    def add(self, name):
        self.client.publish(f"{SITE}/gateway/{name}", json.dumps({"v": 1, "room": name.capitalize(), "version": "1.0.0"}), True)
        self.client.publish(f"ibeacon-gateway/{name}/availability", "online", True)
        self.gateways = {**self.gateways, name: Gateway(name)}
        return self.gateways[name]

    def put(self, minor, **levels):
        """From now on the gateways hear the tag at these levels, and the others not at all."""
        for name, gateway in self.gateways.items():
            heard = {key: value for key, value in gateway.levels.items() if key != minor}
            gateway.levels = {**heard, minor: levels[name]} if name in levels else heard

    def stay(self, minor, room, others=-75):
        """The tag is in the room of this gateway."""
        self.put(minor, **{name: -50 if name == room else others for name in self.gateways})

    def publish(self, gateway, payload):
        self.client.publish(f"{SITE}/heard/{gateway.name}", payload)

    def _run(self):
        last = time.monotonic()
        while not self.closed.wait(0.02):
            now = time.monotonic()
            for gateway in list(self.gateways.values()):
                if gateway.is_on:
                    gateway.clock += (now - last) * 1000 * gateway.rate
                    self._send(gateway)
            last = now

    def _send(self, gateway):
        if gateway.clock < gateway.due:
            return
        gateway.due += 1000
        gateway.quiet_for = 0 if gateway.levels else gateway.quiet_for + 1
        if gateway.quiet_for and gateway.quiet_for % 10 != 1:
            return
        if gateway.held is None:
            self.publish(gateway, gateway.message())
        else:
            gateway.held.append((time.monotonic(), gateway.message()))

    def release(self, gateway, before=None):
        """The link gives what was made before then, all at once."""
        held = gateway.held
        gateway.held = [] if before is None else [entry for entry in held if entry[0] > before]
        for made, payload in held:
            if before is None or made <= before:
                self.publish(gateway, payload)

    def close(self):
        self.closed.set()
        self.thread.join()


class Site:
    """A house with an active service and its tags, and an eye that sees what comes out."""

    def __init__(self, lab, *gateways, tags=("Jane:7",), clock=None, start=True, **rooms):
        names = [tag(*word.split(":")) for word in tags]
        self.lab, self.eye = lab, lab.eye()
        self.service = lab.service("a", names, clock, **rooms)
        if start:
            self.service.start()
            self.is_active()
        self.house = lab.house(*gateways)

    def is_active(self, name="a", limit=40):
        need(lambda: self.card(name).get("active") is True, limit, f"the service '{name}' became active")

    def card(self, name):
        return parsed(self.eye.latest.get(f"{SITE}/service/{name}"))

    def room(self, tag="jane"):
        """The name of the room that is published; None: none, or away."""
        return parsed(self.eye.latest.get(f"{SITE}/tag/{tag}")).get("roomName")

    def settle_in(self, room, tag="jane", minor=JANE, limit=45):
        """The tag is carried into the room of this gateway, and reported there."""
        self.house.stay(minor, room)
        return need(lambda: self.room(tag) == room.capitalize(), limit, f"'{tag}' was reported in {room}")

    def reported(self, room, tag="jane", limit=40):
        """How many seconds it takes until the tag is reported in the room; None: never."""
        return wait(lambda: self.room(tag) == room, limit)

    def watch(self, room, limit, tag="jane"):
        """In how many of so many seconds the tag is reported in the room."""
        inside, begin = 0.0, time.monotonic()
        while time.monotonic() - begin < limit:
            inside += 0.1 if self.room(tag) == room else 0
            time.sleep(0.1)
        return round(inside)

    def problem(self, gateway):
        return parsed(self.eye.latest.get(f"{SITE}/health/{gateway}")).get("problem")

    def events(self):
        """The transitions: (seconds of the eye's clock, event, room, all of it)."""
        found = []
        for message in list(self.eye.messages):
            if message.topic.endswith("/event") and (event := parsed(message.payload)):
                found.append((message.at, event.get("event"), event.get("desc"), event))
        return found

    def listed(self):
        """How many tags the retained list has."""
        return len(parsed(self.eye.latest.get(f"{SITE}/tags")).get("tags") or [])


def parsed(payload):
    """The object of a payload; an empty one where there is none."""
    try:
        value = json.loads(payload or b"{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
