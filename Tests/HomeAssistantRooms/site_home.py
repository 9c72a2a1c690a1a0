"""A real Home Assistant with this repository's integration, and a broker beside it: what the scripts of this folder do with them."""
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.error

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "HomeAssistant"))
from home import Home  # noqa: E402


class SiteHome(Home):
    """`folder` keeps Home Assistant between runs (Tests/HomeAssistant/install)."""

    PORT = 18830

    def __init__(self, folder):
        super().__init__(folder)
        self.processes, self.passed = {}, 0

    def start(self, *words):
        super().start("--integration", *words)

    def inside(self, script, *words):
        """A command in Home Assistant's Python; `script` is one of this folder."""
        return super().inside(HERE / script, *words)

    def path(self, name):
        return self.folder / name

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

    def retained(self, topic):
        """The payloads that the broker retains, by topic."""
        done = subprocess.run(["mosquitto_sub", "-h", "127.0.0.1", "-p", str(self.PORT), "-t", topic, "--retained-only", "-W", "1", "-F", "%t %p"],
                              capture_output=True, text=True, check=False)
        return dict(line.split(" ", 1) for line in done.stdout.splitlines())

    def usage(self):
        """Processor time of Home Assistant in seconds, and its memory in MB."""
        number = self.process
        fields = pathlib.Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        memory = [line for line in pathlib.Path(f"/proc/{number}/status").read_text().splitlines() if line.startswith("VmRSS")][0]
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(memory.split()[1]) / 1024
