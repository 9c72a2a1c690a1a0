"""A real Home Assistant as a program asks it: its process, its REST interface, its websocket and its flows."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent


class Home:
    """The Home Assistant that `install` has put into a folder."""

    url = "http://127.0.0.1:18123"

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    @property
    def release(self):
        return (self.folder / "release").read_text().strip()

    @property
    def token(self):
        return (self.folder / "token").read_text().strip()

    # What runs

    def start(self, *words, seconds=3600):
        subprocess.run([HERE / "start", *words, self.folder, str(seconds)], check=True)
        # Otherwise Home Assistant takes its address for a trial, and restarts after five minutes. Earlier releases do not know it.
        self.ask({"type": "http/config/promote"})

    @property
    def process(self):
        """The number of its process, within the commands that start it."""
        number = int((self.folder / "pid").read_text())
        while children := pathlib.Path(f"/proc/{number}/task/{number}/children").read_text().split():
            number = int(children[0])
        return number

    def stop(self):
        number = self.process
        os.kill(number, signal.SIGTERM)
        for _ in range(600):
            if not os.path.exists(f"/proc/{number}"):
                return
            time.sleep(0.1)
        raise SystemExit("Home Assistant does not end")

    def inside(self, script, *words):
        """A command in Home Assistant's Python."""
        shutil.copy(script, self.folder / pathlib.Path(script).name)
        return [str(self.folder / "inside"), str(self.folder / "v/bin/python"), str(self.folder / pathlib.Path(script).name), *words]

    # What it is asked

    def rest(self, method, where, body=None):
        request = urllib.request.Request(f"{self.url}/api/{where}", method=method, headers={
            "Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
            data=None if body is None else json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def ask(self, *commands):
        """Results of commands of the websocket."""
        words = self.inside(HERE.parent / "HomeAssistantRooms/ask.py", self.url, str(self.folder / "token"), *map(json.dumps, commands))
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def states(self):
        return {state["entity_id"]: state for state in self.rest("GET", "states")}

    def entries(self, domain):
        return [entry for entry in self.ask({"type": "config_entries/get"})[0] if entry["domain"] == domain]

    def flow(self, handler, *answers):
        """Goes through the steps of an integration's flow. Returns its last step."""
        step = self.rest("POST", "config/config_entries/flow", {"handler": handler})
        for answer in answers:
            step = self.answer(step, answer)
        return step

    def answer(self, step, answer):
        return self.rest("POST", f"config/config_entries/flow/{step['flow_id']}", answer)

    def discovered(self, handler):
        """The flows that Home Assistant has begun by itself: (its number, how it came)."""
        flows = self.ask({"type": "config_entries/flow/progress"})[0]
        return [(flow["flow_id"], flow["context"]["source"], flow) for flow in flows if flow["handler"] == handler]
