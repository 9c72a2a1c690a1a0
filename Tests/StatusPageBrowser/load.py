#!/usr/bin/env python3
"""The service under load. usage: load.py GATEWAY [SECONDS [STREAMS [REQUESTS_PER_SECOND [LATEST_MS]]]]

A recording of 1,000 reports a second plays while STREAMS pages are open, REQUESTS_PER_SECOND are made, some clients
never finish their request and some never read. Every 200 ms one beacon enters and one leaves. A subscriber at a real broker
measures how late each transition is. None may be later than LATEST_MS (100), and all slow clients must be dropped.
LATEST_MS 0 holds on a machine of any speed: each transition must come at some time, and nobody be refused or cut off; how late,
and how many requests there were, is printed.
"""
import asyncio, json, os, random, shutil, socket, subprocess, sys, tempfile, time
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "../Fixtures"))
import recording

program = os.path.abspath(sys.argv[1])
seconds, streams, rate, latest = (
    int(sys.argv[i]) if len(sys.argv) > i else d for i, d in ((2, 30), (3, 200), (4, 1000), (5, 100)))
RSS_LIMIT_KB, DAWDLERS, QUIET, LEAVE = 96 * 1024, 20, 6, 3
# `--ask` and `--watch` are this program's own helpers, so that one slow interpreter does not hold up the other.


def get(path):
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


async def ask(port, each, end, tally):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    paths = ["/metrics", "/status.json", "/", "/page.js"]
    while time.monotonic() < end:
        began = time.monotonic()
        writer.write(get(random.choice(paths)))
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r")[0]))
        tally["answered"] += 1
        tally["bad"] += not head.startswith(b"HTTP/1.1 200")
        tally["slowest"] = max(tally["slowest"], time.monotonic() - began)
        await asyncio.sleep(max(0, each - (time.monotonic() - began)))


async def asks(port):
    tally, workers = {"answered": 0, "bad": 0, "slowest": 0}, 40
    await asyncio.gather(*(ask(port, workers / rate, time.monotonic() + seconds, tally) for _ in range(workers)))
    print(json.dumps(tally))


async def watch(port, tally):
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 18)
    writer.write(get("/events"))
    while data := await reader.read(1 << 18):
        tally["bytes"] += len(data)
        tally["events"] += data.count(b"data: {")
    tally["ended"] += 1


async def watches(port):
    tally = {"bytes": 0, "events": 0, "ended": 0}
    watchers = [asyncio.create_task(watch(port, tally)) for _ in range(streams)]
    await asyncio.sleep(seconds)
    print(json.dumps(tally))
    for watcher in watchers:
        watcher.cancel()


if len(sys.argv) > 7:
    # Clients are on other machines, as a rule, and take no turn from the service.
    os.nice(5)
    asyncio.run({"--ask": asks, "--watch": watches}[sys.argv[6]](int(sys.argv[7])))
    sys.exit(0)

# TMPDIR=/dev/shm takes the disk, which others may keep busy, out of the figures.
folder = tempfile.mkdtemp(prefix="ibeacon-gateway-load-")


def path(name):
    return os.path.join(folder, name)


def plan():
    """The recording: who comes when, and what else is in the air."""
    source, reports, due, waypoints = random.Random(1), [], {}, []
    length = QUIET + seconds + LEAVE + 2
    for n in range(int((length - LEAVE - 2) * 5)):
        start = 1 + n / 5
        heard = recording.visit(n + 1, start, start + 1, rssi=-60, rate=10)
        reports += heard
        due[f"r{n} enter"] = start
        due[f"r{n} leave"] = max(at for at, *_ in heard) + LEAVE
        waypoints.append(recording.waypoint(f"r{n}", f"Room {n}", n + 1))
    strangers = [source.randbytes(6) for _ in range(300)]
    while len(reports) < length * 1000:
        address = source.choice(strangers)
        data = (recording.beacon(9, address[0]) if address[1] < 64 else
                recording.FLAGS + b"\x0b\xff\x4c\x00\x10\x05" + source.randbytes(6))
        reports.append((source.random() * length, data, address, source.randrange(-95, -40)))
    recording.write(path("load.btsnoop"), reports)
    return due, waypoints, length


def figure(metrics, name):
    return float(next(line for line in metrics.splitlines() if line.startswith(name + " ")).split()[1])


def curl(port, where):
    return subprocess.run(["curl", "-s", f"http://127.0.0.1:{port}{where}"], capture_output=True, text=True).stdout


def dawdle(port, n):
    """Half a request, or a stream that is not read."""
    client = socket.create_connection(("127.0.0.1", port))
    client.send(b"GET / HTTP/1.1\r\nHost: loc" if n % 2 else get("/events"))
    return client


def free_port():
    """Below the ports that the kernel gives to outgoing connections, so that none takes it before it is used."""
    while True:
        with socket.socket() as probe:
            port = random.randrange(10000, 12000)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def text(name):
    with open(path(name)) as file:
        return file.read()


def wait_for(what, holds):
    end = time.monotonic() + 180
    while not holds():
        assert time.monotonic() < end, f"{what}, also after three minutes"
        time.sleep(0.02)


def memory(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def arrivals():
    """When each transition came."""
    came = {}
    for line in text("witness").splitlines(keepends=True):
        if line.endswith("\n"):
            at, payload = line.split(" ", 1)
            message = json.loads(payload)
            came[f"{message['rid']} {message['event']}"] = float(at)
    return came


def lateness(due):
    """How late each transition was, counted from when the quickest one came."""
    came = arrivals()
    zero = min(came[name] - at for name, at in due.items())
    return {name: came[name] - at - zero for name, at in due.items()}


def describe(late):
    late = sorted(late)
    return (f"{len(late)} transitions, median {late[len(late) // 2] * 1000:.0f} ms, "
            f"99 % within {late[int(len(late) * 0.99)] * 1000:.0f} ms, latest {late[-1] * 1000:.0f} ms")


due, waypoints, length = plan()
mqtt, http = free_port(), free_port()
with open(path("mosquitto.conf"), "w") as file:
    file.write(f"listener {mqtt} 127.0.0.1\nallow_anonymous true\nlog_dest stderr\nlog_type all\n")
with open(path("config.json"), "w") as file:
    json.dump({"_type": "configuration", "host": "127.0.0.1", "port": mqtt, "username": "home", "deviceId": "load",
               "http": {"listen": f"127.0.0.1:{http}"}, "leaveAfter": LEAVE, "waypoints": waypoints,
               "scanner": {"capture": path("load.btsnoop")}}, file)
running = []
try:
    with open(path("mosquitto.log"), "w") as out:
        running.append(subprocess.Popen([shutil.which("mosquitto") or "/usr/sbin/mosquitto", "-c", path("mosquitto.conf")],
                                        stdout=subprocess.DEVNULL, stderr=out))
    wait_for("the broker accepts no connection", lambda: socket.socket().connect_ex(("127.0.0.1", mqtt)) == 0)
    with open(path("witness"), "w") as out:
        running.append(subprocess.Popen(["mosquitto_sub", "-h", "127.0.0.1", "-p", str(mqtt), "-t", "owntracks/+/+/event",
                                         "-q", "1", "-F", "%U %p"], stdout=out))
    wait_for("the witness is not there", lambda: "Sending SUBACK" in text("mosquitto.log"))
    with open(path("log"), "w") as out:
        gateway = subprocess.Popen([program, "--config", path("config.json"), "--state-dir", path("state"), "--verbose", "run"],
                                   stderr=out)
    running.append(gateway)
    began = time.monotonic()
    time.sleep(QUIET)
    wait_for("the service has no page", lambda: socket.socket().connect_ex(("127.0.0.1", http)) == 0)
    before = memory(gateway.pid)
    helpers = [subprocess.Popen([sys.executable, __file__, program, str(seconds), str(streams), str(rate), str(latest),
                                 mode, str(http)],
                                stdout=subprocess.PIPE, text=True) for mode in ("--watch", "--ask")]
    dawdlers = [dawdle(http, n) for n in range(DAWDLERS)]
    peak = before
    while any(helper.poll() is None for helper in helpers):
        peak = max(peak, memory(gateway.pid))
        time.sleep(0.5)
    watched, asked = (json.loads(helper.communicate()[0]) for helper in helpers)
    wait_for("some transitions did not come", lambda: due.keys() <= arrivals().keys())
    metrics = curl(http, "/metrics")
    after = memory(gateway.pid)
    late = lateness(due)
    quiet = [v for name, v in late.items() if due[name] < QUIET - 0.5]
    loaded = [v for name, v in late.items() if QUIET + 0.5 <= due[name] < QUIET + seconds]
    dropped = figure(metrics, "ibeacon_gateway_http_clients_dropped_total")
    processor = figure(metrics, "process_cpu_seconds_total")
    reports = next(float(line.split()[-1]) for line in metrics.splitlines()
                   if line.startswith("ibeacon_gateway_advertising_reports_total"))
    gateway.terminate()
    gateway.wait(90)
    with open(path("log")) as file:
        turns = [line[3:].strip() for line in file if "turn of the loop" in line or "had to wait" in line]
    print(f"without load: {describe(quiet)}")
    print(f"under load:   {describe(loaded)}")
    print(f"{reports / length:.0f} reports/s, {streams} streams with {watched['events']} events, "
          f"{asked['answered'] / seconds:.0f} requests/s ({asked['bad']} not with 200, slowest {asked['slowest'] * 1000:.0f} ms), "
          f"{dropped:.0f} of {DAWDLERS} dawdlers dropped, RSS {before} kB -> peak {peak} kB -> {after} kB, "
          f"processor {processor:.1f} s; {'; '.join(turns)}")
    assert asked["bad"] == 0 and watched["ended"] == 0, "a client was refused or cut off"
    assert asked["answered"] > 0 and watched["events"] >= streams, "there was no load"
    if latest:
        assert asked["answered"] >= 0.9 * rate * seconds, "too few requests were made to mean anything"
        assert watched["events"] >= 0.8 * streams * (seconds - 1), "watchers missed events"
        assert max(loaded) * 1000 <= latest, f"a transition was {max(loaded) * 1000:.0f} ms late"
    assert peak <= RSS_LIMIT_KB, f"{peak} kB of memory"
    # Who sends half a request has 15 s; who does not read, 15 s from when the buffers are full.
    assert seconds < 25 or dropped >= DAWDLERS, f"{DAWDLERS - dropped:.0f} dawdlers were not dropped"
    print("all limits hold")
finally:
    for process in running[::-1]:
        process.terminate()
        process.wait(90)
    shutil.rmtree(folder, ignore_errors=True)
