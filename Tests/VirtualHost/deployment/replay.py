"""Runs what documents show: every box that begins with ```sh run or ```console run, in order.

usage: replay.py FILE.md...   in the virtual machine, as root. One line for each box; status 1 if one failed.
"""
import os
import pty
import re
import select
import subprocess
import sys
import time

PATIENCE = 240  # seconds for one box; processors are emulated here


def boxes(path):
    """Yields (line number, kind, text) of each box that is to be run."""
    kind, start, lines = None, 0, []
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if kind is None:
            opened = re.match(r"```(sh|console) run$", line)
            if opened:
                kind, start, lines = opened[1], number, []
        elif line == "```":
            yield start, kind, lines
            kind = None
        else:
            lines.append(line)


def run_shell(lines):
    """Returns (whether it ended with 0, what it said)."""
    try:
        done = subprocess.run(["bash", "-e", "-c", "\n".join(lines)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=PATIENCE)
        return done.returncode == 0, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return False, (late.stdout or b"").decode(errors="replace") + "\n(no end)"


def run_conversation(lines):
    """Types what stands behind each question of the conversation when that question comes."""
    command = lines[0].removeprefix("$ ")
    # A question ends with a colon; what it offers stands before in brackets. What is measured anew each time (the
    # strength, say) stands in no question.
    questions = [re.match(r"(.*?(?:\]|name|Password|User name|broker): )(.*)$", line + (" " if line.endswith(":") else ""))
                 for line in lines[1:]]
    questions = [(found[1], found[2]) for found in questions if found and not found[1].startswith(" ")]
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp("bash", ["bash", "-c", command])
    said, seen, end = "", 0, time.monotonic() + PATIENCE
    problem = None

    def listen():
        nonlocal said
        if not select.select([terminal], [], [], 0.2)[0]:
            return True
        try:
            data = os.read(terminal, 4096)
        except OSError:  # the other end has gone
            data = b""
        said += data.decode(errors="replace")
        return bool(data)

    for question, answer in questions:
        while question not in said[seen:]:
            if time.monotonic() > end or not listen():
                problem = f"the question '{question}' did not come"
                break
        if problem:
            break
        seen = said.index(question, seen) + len(question)
        os.write(terminal, (answer + "\n").encode())
    while not problem and listen():
        if time.monotonic() > end:
            problem = "no end"
    os.close(terminal)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    # What it says besides questions must be said, too, where nothing in it changes from time to time.
    plain = [line for line in lines[1:] if line and not re.search(r"\d|\]: |[ ]{2}", line)]
    missing = [line for line in plain if line not in said]
    if not problem and missing:
        problem = f"'{missing[0]}' was not said"
    if not problem and status != 0:
        problem = f"it ended with {status}"
    return problem is None, said + (f"\n({problem})" if problem else "")


failed = 0
for path in sys.argv[1:]:
    for number, kind, lines in boxes(path):
        start = time.monotonic()
        well, said = run_shell(lines) if kind == "sh" else run_conversation(lines)
        up = open("/proc/uptime").read().split()[0]
        print(f"[{up}] {'so' if well else 'not so'}: {os.path.basename(path)}:{number} ({time.monotonic() - start:.0f} s)",
              flush=True)
        for line in said.splitlines():
            print("    " + line, flush=True)
        failed += not well
sys.exit(1 if failed else 0)
