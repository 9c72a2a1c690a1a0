"""Runs the package's tests in many processes and says how they went. Scripts/test calls it, after the build.

A process runs a long suite, some short suites of a target that takes long, all of another target, or some short targets, one test after
the other. Tests of the whole service wait more than they compute, so there are several processes for each processor. What happens is read from the event streams
that Swift Testing writes (a JSON object for each line), not from the words meant for people. The virtual host runs beside the
tests: it computes while they wait, and its own clock skips its idle time, so that a busy machine does not change its verdicts.
The logs of all processes stay in .build/tests, and how long each took is in its file `times`. The files that the tests of a process write are in a directory of its own, which is searched for keys of phones
and removed when the process has ended.
"""

import argparse
import base64
import collections
import contextlib
import json
import os
import queue
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LOGS = os.path.join(TOP, ".build", "tests")
# What `swift test --skip-build` starts. Started directly, it costs half a second of processor time less, for each process.
PROGRAM = os.path.join(TOP, ".build/debug/ibeacon-gatewayPackageTests.xctest")
LIBRARY = ["--testing-library", "swift-testing"]
VIRTUAL_HOST = os.path.join(TOP, "Tests/VirtualHost/run")

# How many processes run at once for each processor. Most of them wait most of the time: with four, the processors are idle for a fifth
# of it.
PROCESSES_PER_PROCESSOR = 6

# Targets that take more than one process, and how many of their suites that are not in LONGEST share one. A process without a
# test costs a quarter of a second of a processor, because it looks through all tests of the package.
SUITES_TOGETHER = {"IntegrationTests": 4, "GatewayTests": 20, "StorageTests": 8}
# Targets that share a process, because each takes hardly longer than a process without a test.
SHORT = [
    "AdvertisingTests", "BlueZScanningTests", "DBusTests", "EncryptionTests", "EnrolmentTests", "OldStateTests", "ReadingFeedTests",
    "RegionsTests", "RuntimeTests", "ServiceDiscoveryTests", "YAMLTests",
]

# These take longest, so they begin first; the order of the others follows from the list of tests. .build/tests/times shows what took
# how long. A target stands for its suites that are not here. What waits comes before what computes: a process that waits alone at the end
# leaves the processors idle. That is told.
LONGEST = [
    "IntegrationTests.SilentWorldRunTests", "IntegrationTests.RoomsAnswerRunTests", "IntegrationTests.RoomsKillRunTests",
    "IntegrationTests.HTTPRunTests", "IntegrationTests.EnduranceStillTests", "IntegrationTests.RoomsFleetRunTests",
    "IntegrationTests.BrokerFaultTests", "IntegrationTests.RefusalTests", "HTTPMessagingTests", "IntegrationTests.KillRunTests",
    "StorageTests.PowerCutTests", "IntegrationTests.BrokerFaultRunTests", "IntegrationTests.RoomsRunTests",
    "IntegrationTests.RestartRunTests", "IntegrationTests.DeviceTests", "IntegrationTests.CrowdRunTests",
    "IntegrationTests.EnduranceTests", "IntegrationTests.StrangerRunTests", "IntegrationTests.ReadingFeedRunTests",
    "IntegrationTests", "StorageTests.DamageTests", "RoomMessagesTests", "PresenceTests", "RoomsTests", "IdentitiesTests", "RoomsAppTests",
    "MessagingTests", "IntegrationTests.InterfaceTests", "GatewayTests.CommandBurstTests", "GatewayTests.BoundTests",
]

# Suites that another script runs, which installs what they need.
ELSEWHERE = {"IntegrationTests.NATSClusterTests": "Tests/Cluster/test"}

# A process hangs if it ends no test and computes next to nothing for so long (seconds), or ends no test for three times as long.
SILENCE_LIMIT = 600
# Seconds for which the last process may run alone, before that is told.
ALONE_LIMIT = 15
# Processor time (seconds) by which a session counts as computing, in the time between two looks at it (seconds).
LEAST_WORK, LOOK_PERIOD = 1.5, 30
# Behind the name of the log of a process that was begun once more.
AGAIN = "-again"


class Outcome:
    """What is known of one test, over all runs."""

    def __init__(self, name):
        self.name = name
        self.runs = 0
        self.failures = []  # one text for each failed run
        self.skipped = None  # the reason
        self.seconds = 0.0  # the longest run


class Process:
    """One process and the events of it that were read so far."""

    def __init__(self, name, arguments, log, report, may_hang):
        self.name, self.log, self.report, self.may_hang = name, log, report, may_hang
        self.stream = log + ".jsonl"
        for path in (self.log, self.stream):
            with contextlib.suppress(FileNotFoundError):
                os.remove(path)
        command = [PROGRAM, *LIBRARY, "--no-parallel", "--event-stream-output-path", self.stream, *arguments]
        # In /tmp, because the path of a socket has at most 107 characters. TemporaryDirectory makes its own in it, and leaves them.
        self.directory = tempfile.mkdtemp(prefix="ibeacon-gateway-test.", dir="/tmp")
        # Tests of rights run the program as another user, who has to reach what is in it.
        os.chmod(self.directory, 0o711)
        # A session of its own: an interrupt at the terminal reaches this program, which then ends the others in order.
        with open(self.log, "wb") as output:
            self.child = subprocess.Popen(
                command, cwd=TOP, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
                env={**os.environ, "IBEACON_GATEWAY_TEST_DIRECTORY": self.directory})
        self.code = None  # the exit status, when it has ended
        self.began, self.processor = time.monotonic(), 0.0  # seconds that it and its children have computed, when it has ended
        self.reader = None
        self.remainder = ""
        self.names = {}  # identifier of a test: its name for people
        self.running = {}  # identifier: when it began, in the seconds of the stream
        self.issues = collections.defaultdict(list)
        self.ended = 0
        self.failed = False
        self.last_sign = self.last_work = self.last_look = time.monotonic()
        self.work = 0.0
        self.killed = False
        self.hung = ""  # what its threads waited for

    def planned(self):
        return len(self.names)

    def read(self):
        """Reads the events that have been written since the last call."""
        if self.reader is None:
            if not os.path.exists(self.stream):
                return
            self.reader = open(self.stream, encoding="utf-8", errors="replace")
        *lines, self.remainder = (self.remainder + self.reader.read()).split("\n")
        for line in lines:
            with contextlib.suppress(ValueError):
                record = json.loads(line)
                (self.plan if record.get("kind") == "test" else self.happened)(record.get("payload", {}))

    def plan(self, test):
        if test.get("kind") == "function":
            self.names[test["id"]] = readable(test)

    def happened(self, event):
        kind, test = event.get("kind"), event.get("testID")
        moment = event.get("instant", {}).get("absolute", 0.0)
        texts = [message.get("text", "") for message in event.get("messages", [])]
        if kind == "issueRecorded":
            issue = event.get("issue", {})
            if not issue.get("isKnown") and issue.get("isFailure", True) and issue.get("severity", "error") != "warning":
                place = issue.get("sourceLocation") or {}
                where = f"{place.get('fileID', '?')}:{place.get('line', '?')}: "
                self.issues[test].append(where + "\n    ".join(texts))
        elif test not in self.names:
            pass  # a suite
        elif kind == "testStarted":
            self.running[test] = moment
        elif kind == "testSkipped":
            self.ended += 1
            # The text begins with the test's name, which is said anyway.
            self.report.skipped(self.names[test], " ".join(texts).split("skipped: ")[-1].strip('"'))
        elif kind == "testEnded":
            self.ended += 1
            self.last_sign = time.monotonic()
            seconds = moment - self.running.pop(test, moment)
            issues = self.issues.pop(test, [])
            self.failed |= bool(issues)
            self.report.ended(self.names[test], seconds, issues)

    def poll(self):
        """Whether the process has ended and all that it wrote was read."""
        self.look()
        self.read()
        if self.code is None:
            if self.hangs() and not self.killed:
                self.hung = self.threads()
                self.killed = True
                self.end(signal.SIGKILL)
            return False
        self.report.took(self.name, time.monotonic() - self.began, self.processor)
        self.conclude(self.code)
        return True

    def look(self):
        """Whether it has ended, and what it has computed then, which Popen does not tell."""
        pid, status, usage = os.wait4(self.child.pid, os.WNOHANG)
        if pid:
            self.code = self.child.returncode = os.waitstatus_to_exitcode(status)
            self.processor = usage.ru_utime + usage.ru_stime

    def hangs(self):
        now = time.monotonic()
        if now - self.last_look >= LOOK_PERIOD:
            work = sum(processor_time(pid) for pid in self.session())
            if work - self.work >= LEAST_WORK:
                self.last_work = now
            self.work, self.last_look = work, now
        return now - max(self.last_sign, self.last_work) > SILENCE_LIMIT or now - self.last_sign > 3 * SILENCE_LIMIT

    def session(self):
        """The processes of the session."""
        for entry in os.listdir("/proc"):
            with contextlib.suppress(OSError, ValueError):
                if entry.isdigit() and os.getsid(int(entry)) == self.child.pid:
                    yield int(entry)

    def threads(self):
        """What each thread of the session is at: its process, its state, the kernel's function, and its system call."""
        lines = []
        for pid in self.session():
            with contextlib.suppress(OSError):
                for thread in sorted(os.listdir(f"/proc/{pid}/task"), key=int):
                    directory = f"/proc/{pid}/task/{thread}"
                    state = content(f"{directory}/stat").rpartition(")")[2].split()[:1]
                    words = [content(f"{directory}/{name}").split()[:4] for name in ("comm", "wchan", "syscall")]
                    lines.append(f"{pid} {thread} " + " ".join(sum([state, *words], [])))
        return "\n    ".join(lines[:200])

    def conclude(self, code):
        """What the end of the process says of the tests that did not end, or of no test."""
        # What a test that crashed has started would go on.
        self.end(signal.SIGKILL)
        shown = list(files_with_keys(self.directory))
        if self.name.startswith("IntegrationTests.") and holds_key(self.log):
            shown.append(self.log)
        if shown:
            self.report.ended(f"({self.name})", 0, ["a key of a phone is in " + ", ".join(shown)])
        else:
            self.remove_directory()
        if self.killed and self.may_hang:
            names = ", ".join(self.names[test] for test in self.running) or "no test"
            self.report.say(f"! {self.name} hung in {names}, and is begun once more. Its threads:\n    {self.hung}")
            return
        cause = f"the process ended with {code}"
        if self.killed:
            cause = f"the process hung, and was killed; its threads:\n    {self.hung}\n    this happened"
        tail = "\n    " + self.tail()
        unfinished = list(self.running)
        for test in unfinished:
            self.report.ended(self.names[test], 0, [f"{cause} while this test ran; its output: {self.log}{tail}"])
        failed_elsewhere = [text for issues in self.issues.values() for text in issues]
        self.failed |= bool(unfinished or failed_elsewhere)
        if failed_elsewhere:
            self.report.ended(f"({self.name}, outside of a test)", 0, failed_elsewhere)
        if not unfinished and self.ended < self.planned():
            missing = self.planned() - self.ended
            self.report.ended(f"({self.name})", 0, [f"{missing} tests never ended; {cause}: {self.log}{tail}"])
        if self.planned() == 0:
            self.report.ended(f"({self.name})", 0, [f"no test was run; {cause}{tail}"])
        elif code != 0 and not self.failed:
            self.report.ended(f"({self.name})", 0, [f"{cause}, and no test failed{tail}"])
        if self.reader:
            self.reader.close()

    def tail(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return "\n    ".join(file.read().splitlines()[-15:])

    def remove_directory(self):
        shutil.rmtree(self.directory, ignore_errors=True)

    def end(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child.pid, number)


# The keys of phones that tests use.
PHONE_KEYS = ["EC0234A357C8AD05341010A60A397D9B", "0F0E0D0C0B0A09080706050403020100", "0123456789ABCDEF0123456789ABCDEF"]
# The keys as octets, in both orders, and as lower-case hexadecimal and base64.
KEY_OCTETS = [octets[::step] for octets in map(bytes.fromhex, PHONE_KEYS) for step in (1, -1)]
KEY_TEXTS = [form.lower().encode() for octets in KEY_OCTETS
             for form in (octets.hex(), base64.b64encode(octets).decode().rstrip("="))]


def holds_key(path):
    with open(path, "rb") as file:
        octets = file.read()
    letters = octets.lower()
    return any(key in octets for key in KEY_OCTETS) or any(key in letters for key in KEY_TEXTS)


def files_with_keys(directory):
    """The files below a directory of tests that have a key of a phone and may not have one. `phone-keys` may, and outside of the
    state directories (named state…) what a test gives to a program or has exported: a configuration, and what has `key` in its name."""
    for folder, _, names in os.walk(directory):
        is_state = any(part.startswith("state") for part in os.path.relpath(folder, directory).split(os.sep))
        for name in names:
            path = os.path.join(folder, name)
            with contextlib.suppress(FileNotFoundError):
                may = name == "phone-keys" or not is_state and (name == "config.json" or "key" in name.lower())
                if not may and stat.S_ISREG(os.lstat(path).st_mode) and holds_key(path):
                    yield path


def processor_time(pid):
    """Seconds that a process has computed."""
    fields = content(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if len(fields) > 12 else 0.0


def content(path):
    """What a file of /proc has; nothing if the process is gone."""
    with contextlib.suppress(OSError):
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    return ""


def readable(test):
    """`Target.Suite: what it says`, from a test's record."""
    suite = test["id"].split("/")[0]
    return f"{suite}: {test.get('displayName') or test.get('name', '?').removesuffix('()').strip('`')}"


class Report:
    """Collects outcomes, shows progress, and prints each failure once, when it happens."""

    def __init__(self, verbose, must_run):
        self.outcomes = {}
        self.must_run = must_run
        self.begin = time.monotonic()
        self.verbose = verbose
        self.live = sys.stderr.isatty() and not verbose
        self.failed_runs = 0
        self.last_line = 0.0
        self.context = ""
        self.times = []  # of each process: seconds, seconds of a processor, name
        self.ends = []  # of each process: when it ended, name

    def took(self, name, seconds, processor):
        self.times.append((seconds, processor, name))
        self.ends.append((time.monotonic(), name))

    def outcome(self, name):
        return self.outcomes.setdefault(name, Outcome(name))

    def ended(self, name, seconds, issues):
        outcome = self.outcome(name)
        outcome.runs += 1
        outcome.seconds = max(outcome.seconds, seconds)
        if issues:
            self.failed_runs += 1
            outcome.failures.append(issues[0])
            text = "\n  ".join(issues)
            self.say(f"✘ {self.context}{name} ({seconds:.1f} s)\n  {text[:6000]}")

    def skipped(self, name, reason):
        self.outcome(name).skipped = reason or "no reason is given"
        suite = name.split(": ")[0]
        if self.must_run and suite not in ELSEWHERE:
            self.ended(name, 0, [f"it was skipped, and it must run here: {reason}"])

    def say(self, text):
        if self.live:
            sys.stderr.write("\r\033[K")
        print(text, file=sys.stderr, flush=True)

    def progress(self, ended, planned, processes):
        """One line that is written over on a terminal; elsewhere a line each half minute."""
        seconds = time.monotonic() - self.begin
        if not self.live and (self.verbose or seconds - self.last_line < 30):
            return
        self.last_line = seconds
        oldest = sorted((began, p.names[test]) for p in processes for test, began in p.running.items())
        line = f"{self.context}{ended} of {planned} tests, {self.failed_runs} failed, {clock(seconds)}"
        if oldest:
            line += f"; running: {oldest[0][1]}"
        if self.live:
            columns = os.get_terminal_size(sys.stderr.fileno()).columns
            sys.stderr.write("\r\033[K" + line[: max(20, columns - 1)])
            sys.stderr.flush()
        else:
            print("  " + line, file=sys.stderr, flush=True)

    def summary(self, runs):
        """The slowest, the skipped, the failed, and the counts.
        Returns whether nothing failed."""
        done = [o for o in self.outcomes.values() if o.runs]
        failed = [o for o in done if o.failures]
        skipped = [o for o in self.outcomes.values() if o.skipped and not o.runs]
        print("\nthe ten slowest:")
        for outcome in sorted(done, key=lambda o: -o.seconds)[:10]:
            print(f"  {outcome.seconds:6.1f} s  {outcome.name}")
        if skipped:
            print("skipped:")
            for outcome in skipped:
                print(f"  {outcome.name}: {outcome.skipped}")
        if failed and runs == 1:
            print("failed (what they say is above, at the sign ✘):")
            for outcome in failed:
                print(f"  {outcome.name}")
        if runs > 1:
            print(f"failures by test, of {runs} runs:" if failed else f"failures by test, of {runs} runs: none")
            for outcome in sorted(failed, key=lambda o: -len(o.failures)):
                print(f"  {len(outcome.failures):3d} of {outcome.runs:3d}  {outcome.name}")
                print(f"              {outcome.failures[0].splitlines()[0][:160]}")
        with open(os.path.join(LOGS, "times"), "w", encoding="utf-8") as file:
            file.write("# seconds, seconds of a processor, process\n")
            file.writelines(f"{took:8.1f} {processor:8.1f} {name}\n" for took, processor, name in sorted(self.times, reverse=True))
        if runs == 1 and len(self.ends) > 1:
            alone = self.ends[-1][0] - self.ends[-2][0]
            if alone > ALONE_LIMIT:
                print(f"{self.ends[-1][1]} ran alone for the last {alone:.0f} s; what is in LONGEST of Scripts/tests.py begins earlier")
        computed = sum(processor for _, processor, _ in self.times)
        print(f"in {clock(time.monotonic() - self.begin)}, {clock(computed)} of a processor; the logs are in {os.path.relpath(LOGS)}")
        passed = len(done) - len(failed)
        print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped", flush=True)
        return not failed and passed > 0


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


class Load:
    """Other work on the machine, beside the tests. It ends with this program, however that ends."""

    # Ends when its parent has become another.
    BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n for _ in range(1000000): pass"
    WRITER = (
        "import os, sys\nparent = os.getppid()\nblock = os.urandom(1 << 20)\n"
        "while os.getppid() == parent:\n"
        " with open(sys.argv[1], 'wb') as file:\n"
        "  for _ in range(64): file.write(block)\n"
        "  os.fsync(file.fileno())\n"
    )

    def __init__(self, name):
        processors = os.cpu_count() or 1
        busy = {"idle": 0, "half": max(1, processors // 2), "full": processors}[name]
        programs = [[self.BUSY]] * busy
        self.file = os.path.join(LOGS, "load")
        if name == "full":
            programs.append([self.WRITER, self.file])
        self.children = [subprocess.Popen([sys.executable, "-c", *program], start_new_session=True) for program in programs]

    def end(self):
        for child in self.children:
            child.kill()
            child.wait()
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.file)


def follow(path, offset):
    """Prints what a log has gained, for --verbose. Returns how far it was read."""
    with contextlib.suppress(FileNotFoundError):
        with open(path, "rb") as file:
            file.seek(offset)
            text = file.read()
            complete = text.rfind(b"\n") + 1
            sys.stderr.buffer.write(text[:complete])
            sys.stderr.flush()
            return offset + complete
    return offset


class Runner:
    """Starts processes, a limited number at once, and watches them until they end."""

    def __init__(self, report, filters, skips, again):
        self.report = report
        self.again = again  # Whether a process that hangs is begun once more.
        # SwiftPM's expressions for the tests within a process: all of a suite, and those that were asked for.
        self.filters, self.skips = filters, skips
        self.parts = {}  # of a process: its suites, or its target
        self.waiting = collections.deque()
        self.processes = []
        self.hosts = []  # what runs beside them: VirtualHost
        self.offsets = collections.defaultdict(int)
        self.most = PROCESSES_PER_PROCESSOR * (os.cpu_count() or 1)
        self.counts = [0, 0]  # tests that ended in processes that are gone; tests that are planned

    def add(self, planned, run=""):
        for name, (parts, count) in planned.items():
            self.parts[name] = parts
            self.waiting.append((name, run))
            self.counts[1] += count

    def start(self, name, run):
        may_hang = self.again and not run.endswith(AGAIN)
        self.processes.append(Process(name, self.arguments(name), os.path.join(LOGS, name + run), self.report, may_hang))

    def arguments(self, name):
        words = []
        # Several expressions of --filter choose what any of them matches; a look-ahead makes it both.
        prefix = "^(?:" + "|".join(map(re.escape, self.parts.get(name, [name]))) + ")[./]"
        for expression in self.filters or [""]:
            words += ["--filter", f"(?={prefix})(?=.*(?:{expression})).*" if expression else prefix]
        for expression in self.skips:
            words += ["--skip", expression]
        return words

    def step(self):
        """Looks at all processes once, and starts what may start."""
        for process in list(self.processes):
            ended = process.poll()
            if self.report.verbose:
                self.offsets[process.log] = follow(process.log, self.offsets[process.log])
            if ended:
                self.processes.remove(process)
                if process.killed and process.may_hang:
                    self.waiting.append((process.name, os.path.basename(process.log).removeprefix(process.name) + AGAIN))
                    continue
                self.counts[0] += process.ended
        while self.waiting and len(self.processes) < self.most:
            self.start(*self.waiting.popleft())
        self.hosts = [host for host in self.hosts if not host.poll()]
        done = self.counts[0] + sum(process.ended for process in self.processes)
        self.report.progress(done, self.counts[1], self.processes)
        time.sleep(0.1)

    def finish(self):
        while self.processes or self.waiting or self.hosts:
            self.step()

    def stop(self):
        # What a test started is in the session of its process, and ends with it.
        for process in self.processes + self.hosts:
            process.end(signal.SIGTERM)
        for process in self.processes + self.hosts:
            try:
                process.child.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.end(signal.SIGKILL)
            process.remove_directory()


def suites(filters=(), skips=()):
    """The processes that all tests, or those that are asked for, take: a name, its suites or its target, and how many tests it has.
    Both are expressions that are searched for in `Target.Suite/test()/File.swift:1:2`, as by `swift test`."""
    listed = subprocess.run([PROGRAM, *LIBRARY, "--list-tests"], cwd=TOP, stdout=subprocess.PIPE, text=True, check=True).stdout
    tests = collections.Counter()
    for test in listed.splitlines():
        chosen = not filters or any(re.search(expression, test) for expression in filters)
        if chosen and not any(re.search(expression, test) for expression in skips):
            target, suite = test.split("/")[0].split(".", 1)
            tests[f"{target}.{suite}" if target in SUITES_TOGETHER else target] += 1
    rank = {name: number for number, name in enumerate(LONGEST)}
    groups = []
    for target, size in SUITES_TOGETHER.items():
        short = [name for name in tests if name.split(".")[0] == target and name not in rank]
        groups += [short[begin : begin + size] for begin in range(0, len(short), size)]
    groups += [short for short in [[name for name in tests if name in SHORT]] if short]
    groups += [[name] for name in tests if name in rank or name.split(".")[0] not in {*SUITES_TOGETHER, *SHORT}]
    groups.sort(key=lambda group: rank.get(group[0], rank.get(group[0].split(".")[0], len(rank))))
    # The first suite or target, and how many more.
    return {
        group[0] + (f"+{len(group) - 1}" if group[1:] else ""): (group, sum(tests[name] for name in group)) for group in groups}


class VirtualHost:
    """Scenarios of the virtual host that run now, whose verdicts count like tests."""

    VERDICT = re.compile(r"^(not )?ok \d+ (\S+) (\S+) (\d+) s(?: for \d+ s)?(?:: (.*))?$")

    def __init__(self, words, report):
        """`words` are those of Tests/VirtualHost/run, behind NAME=VALUE for its environment."""
        settings = [word for word in words if "=" in word and not word.startswith("-")]
        self.arguments = words[len(settings) :]
        self.report = report
        self.log = os.path.join(LOGS, "virtual-host")
        self.seen = self.failed = 0
        self.began = time.monotonic()
        self.lines = queue.SimpleQueue()
        report.say("== the virtual host: " + " ".join(self.arguments))
        # In a session of its own, as the processes of the tests.
        self.child = subprocess.Popen(
            ["env", *settings, VIRTUAL_HOST, *self.arguments], cwd=TOP, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        """In a thread of its own; None says that no line will follow."""
        with open(self.log, "a", encoding="utf-8") as file:
            for line in self.child.stdout:
                file.write(line)
                file.flush()
                self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def poll(self):
        """Tells what was said since the last call. Returns whether it has ended."""
        with contextlib.suppress(queue.Empty):
            while (line := self.lines.get_nowait()) is not None:
                self.said(line)
            _, status, usage = os.wait4(self.child.pid, 0)
            self.child.returncode = os.waitstatus_to_exitcode(status)
            self.conclude(usage.ru_utime + usage.ru_stime)
            return True
        return False

    def said(self, line):
        match = self.VERDICT.match(line)
        if match:
            wrong, controller, name, seconds, reason = match.groups()
            self.seen += 1
            self.failed += bool(wrong)
            issues = [reason or "no reason is given"] if wrong else []
            self.report.ended(f"VirtualHost: {self.arguments[0]} {name} ({controller})", float(seconds), issues)
        # What runs is told by this program's own progress.
        if not (match and match[1]) and not line.startswith("  after "):
            self.report.say("  " + line)

    def conclude(self, processor):
        self.report.took("VirtualHost " + " ".join(self.arguments), time.monotonic() - self.began, processor)
        code = self.child.returncode
        if self.seen == 0 or (code != 0 and not self.failed):
            self.report.ended("VirtualHost", 0, [f"{self.seen} scenarios were run, and the exit status was {code}; see {self.log}"])

    def end(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child.pid, number)

    def remove_directory(self):
        pass


def formerly_flaky():
    """The expressions of Tests/formerly-flaky."""
    with open(os.path.join(TOP, "Tests", "formerly-flaky"), encoding="utf-8") as file:
        return [line.split("#")[0].strip() for line in file if line.split("#")[0].strip()]


def main():
    global ALONE_LIMIT, LOGS, PROGRAM, SILENCE_LIMIT, VIRTUAL_HOST
    parser = argparse.ArgumentParser()
    parser.add_argument("--filter", action="append", default=[])
    parser.add_argument("--skip", action="append", default=[])
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--load", choices=["idle", "half", "full"], default="idle")
    parser.add_argument("--formerly-flaky", action="store_true")
    # Scenarios of the virtual host: those that run beside the tests, and those that follow, because what they measure is a time.
    parser.add_argument("--beside", action="append", default=[])
    parser.add_argument("--alone", action="append", default=[])
    parser.add_argument("--must-run", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    # For an emulator, which may hang by itself: a process that hangs is begun once more, and that is told.
    parser.add_argument("--again", action="store_true")
    # For the tests of this script.
    parser.add_argument("--program", default=PROGRAM)
    parser.add_argument("--virtual-host", default=VIRTUAL_HOST)
    parser.add_argument("--logs", default=LOGS)
    parser.add_argument("--silence", type=float, default=SILENCE_LIMIT)
    parser.add_argument("--alone-limit", type=float, default=ALONE_LIMIT)
    options = parser.parse_args()
    PROGRAM, LOGS, SILENCE_LIMIT, VIRTUAL_HOST = options.program, options.logs, options.silence, options.virtual_host
    ALONE_LIMIT = options.alone_limit

    os.makedirs(LOGS, exist_ok=True)
    report = Report(options.verbose, options.must_run)
    expressions = formerly_flaky() if options.formerly_flaky else options.filter
    runner = Runner(report, expressions, options.skip, options.again)
    chosen = suites(expressions, options.skip)
    load = Load(options.load)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        if options.formerly_flaky:
            # All runs at once, beside each other: that is a load, too.
            for run in range(1, options.repeat + 1):
                runner.add(chosen, f"-{run}")
            runner.finish()
        else:
            for run in range(1, options.repeat + 1):
                if options.repeat > 1:
                    report.context = f"run {run} of {options.repeat}: "
                runner.add(chosen, f"-{run}" if options.repeat > 1 else "")
                runner.hosts += [VirtualHost(words.split(), report) for words in options.beside]
                runner.finish()
                for words in options.alone:
                    runner.hosts.append(VirtualHost(words.split(), report))
                    runner.finish()
    except KeyboardInterrupt:
        report.say("interrupted")
        return 130
    finally:
        runner.stop()
        load.end()
    report.say("")
    return 0 if report.summary(options.repeat) else 1


if __name__ == "__main__":
    sys.exit(main())
