"""A real Home Assistant in a folder of its own, with a broker beside it: what the scripts of this folder do with it."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent


class Home:
    """`directory` keeps Home Assistant between runs (Tests/HomeAssistant/install)."""

    PORT, URL = 18830, "http://127.0.0.1:18123"

    def __init__(self, directory):
        self.directory, self.processes, self.passed = directory, {}, 0

    def path(self, name):
        return self.directory / name

    def check(self, what, condition, seconds=15):
        """Waits until it holds, and prints after how many seconds."""
        begin, error = time.monotonic(), None
        while True:
            try:
                if condition():
                    break
            except (KeyError, TypeError, ValueError, urllib.error.URLError, OSError) as failure:
                error = failure
            if time.monotonic() - begin > seconds:
                raise SystemExit(f"not ok: {what}, after {seconds} s; {error!r}")
            time.sleep(0.3)
        self.passed += 1
        print(f"ok: {what} ({time.monotonic() - begin:.1f} s)", flush=True)

    def launch(self, name, *command, **more):
        with open(self.path(f"{name}.log"), "a") as log:
            self.processes[name] = subprocess.Popen(command, stderr=log, text=True, **{"stdout": log, **more})

    def end(self, name, with_signal=signal.SIGTERM):
        process = self.processes.pop(name)
        process.send_signal(with_signal)
        process.wait(30)

    def start_broker(self):
        self.path("mosquitto.conf").write_text(f"listener {self.PORT} 127.0.0.1\nallow_anonymous true\n")
        self.launch("mosquitto", "mosquitto", "-c", str(self.path("mosquitto.conf")))

    def inside(self, script, *words):
        """A command in Home Assistant's Python."""
        shutil.copy(HERE / script, self.path(script))
        return [str(self.path("inside")), str(self.path("v/bin/python")), str(self.path(script)), *words]

    def rest(self, method, where, body=None):
        request = urllib.request.Request(f"{self.URL}/api/{where}", method=method, headers={
            "Authorization": f"Bearer {self.path('token').read_text().strip()}", "Content-Type": "application/json"},
            data=None if body is None else json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def ask(self, *commands):
        """Results of commands of Home Assistant's websocket."""
        done = subprocess.run(self.inside("ask.py", self.URL, str(self.path("token")), *map(json.dumps, commands)), check=True, capture_output=True, text=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def flow(self, handler, *answers):
        """Goes through the steps of an integration's flow. Returns its last step."""
        step = self.rest("POST", "config/config_entries/flow", {"handler": handler})
        for answer in answers:
            step = self.rest("POST", f"config/config_entries/flow/{step['flow_id']}", answer)
        return step

    def retained(self, topic):
        """The payloads that the broker retains, by topic."""
        done = subprocess.run(["mosquitto_sub", "-h", "127.0.0.1", "-p", str(self.PORT), "-t", topic, "--retained-only", "-W", "1", "-F", "%t %p"],
                              capture_output=True, text=True, check=False)
        return dict(line.split(" ", 1) for line in done.stdout.splitlines())

    def entry(self, domain):
        return [entry for entry in self.ask({"type": "config_entries/get"})[0] if entry["domain"] == domain]

    def start(self, *words):
        subprocess.run([HERE / "../HomeAssistant/start", "--integration", *words, self.directory, "3600"], check=True)
        # Otherwise Home Assistant takes its address for a trial, and restarts after five minutes.
        self.ask({"type": "http/config/promote"})

    def process(self):
        """The number of the process of Home Assistant, within the commands that start it."""
        number = int(self.path("pid").read_text())
        while children := pathlib.Path(f"/proc/{number}/task/{number}/children").read_text().split():
            number = int(children[0])
        return number

    def stop(self):
        number = self.process()
        os.kill(number, signal.SIGTERM)
        for _ in range(300):
            if not os.path.exists(f"/proc/{number}"):
                return
            time.sleep(0.1)
        raise SystemExit("Home Assistant does not end")

    def usage(self):
        """Processor time of Home Assistant in seconds, and its memory in MB."""
        number = self.process()
        fields = pathlib.Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        memory = [line for line in pathlib.Path(f"/proc/{number}/status").read_text().splitlines() if line.startswith("VmRSS")][0]
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(memory.split()[1]) / 1024
