"""Runs what documents show: every box that begins with ```sh run or ```console run, in order.

usage: replay.py [--as USER] FILE.md[#HEADING]...   in the virtual machine, as root. One line for each box; status 1 if one failed.

With a heading, as in a link to it, only its boxes and those of the headings below it are run. A word after `run` is the machine
(see `machine`) on which the box is run.
"""
import os
import pty
import re
import select
import subprocess
import sys
import time

# Seconds for one box; processors are emulated here, and `apt install` has taken 240 on a busy machine.
PATIENCE = int(os.environ.get("BOX_PATIENCE", "900"))


def anchor(heading):
    """What a link to a heading says."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def boxes(path, section=None):
    """Yields (line number, kind, machine, text) of each box that is to be run."""
    kind, start, lines, inside, depth = None, 0, [], section is None, 0
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if kind is None:
            heading = re.match(r"(#+) (.*)$", line)
            if section and heading and (not inside or len(heading[1]) <= depth):
                inside, depth = anchor(heading[2]) == section, len(heading[1])
            opened = re.match(r"```(\w*)(?: (run)(?: (\w+))?)?", line)
            if opened:
                kind, start, lines = opened[1] if opened[2] and inside else "", number, []
                machine = opened[3]
        elif line == "```":
            if kind in ("sh", "console"):
                yield start, kind, machine, lines
            kind = None
        else:
            lines.append(line)


def run_shell(lines, before):
    """Returns (whether it ended with 0, what it said)."""
    try:
        done = subprocess.run([*before, "bash", "-e", "-c", "\n".join(lines)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=PATIENCE)
        return done.returncode == 0, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return False, (late.stdout or b"").decode(errors="replace") + "\n(no end)"


def questions_of(lines):
    """What `run_conversation` waits for, and answers."""
    return [each for each in (question(line) for line in lines[1:]) if each]


def question(line):
    """Returns the question and its answer; None if the line is none."""
    # A question ends with a colon; what it offers stands before in brackets. What is measured anew each time (the
    # strength, say) stands in no question.
    found = re.match(r"(.*?(?:\]|\)|name|[Pp]assword|User name|broker): )(.*)$", line + (" " if line.endswith(":") else ""))
    return (found[1], found[2]) if found and not found[1].startswith(" ") else None


def run_conversation(lines, before):
    """Types what stands behind each question of the conversation when that question comes."""
    command = lines[0].removeprefix("$ ")
    asked = [question(line) is not None for line in lines[1:]]
    questions = questions_of(lines)
    pid, terminal = pty.fork()
    if pid == 0:
        words = [*before, "bash", "-c", command]
        os.execvp(words[0], words)
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

    for asks, answer in questions:
        while asks not in said[seen:]:
            if time.monotonic() > end or not listen():
                problem = f"the question '{asks}' did not come"
                break
        if problem:
            break
        seen = said.index(asks, seen) + len(asks)
        os.write(terminal, (answer + "\n").encode())
    while not problem and listen():
        if time.monotonic() > end:
            problem = "no end"
    os.close(terminal)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    # What it says besides questions must be said, too, where nothing in it changes from time to time.
    plain = [line for line, is_asked in zip(lines[1:], asked) if line and not is_asked and not re.search(r"\d|\]: |[ ]{2}", line)]
    missing = [line for line in plain if line not in said]
    if not problem and missing:
        problem = f"'{missing[0]}' was not said"
    if not problem and status != 0:
        problem = f"it ended with {status}"
    return problem is None, said + (f"\n({problem})" if problem else "")


arguments = sys.argv[1:]
user = ["runuser", "-u", arguments[1], "--"] if arguments[:1] == ["--as"] else []
failed = 0
boxes_run, commands, questions_answered, waited = 0, 0, 0, 0.0
for argument in arguments[2 if user else 0:]:
    path, _, section = argument.partition("#")
    found = False
    for number, kind, machine, lines in boxes(path, section or None):
        found = True
        before = (["/out/machine", machine] if machine else []) + user
        start = time.monotonic()
        well, said = run_shell(lines, before) if kind == "sh" else run_conversation(lines, before)
        up = open("/proc/uptime").read().split()[0]
        print(f"[{up}] {'so' if well else 'not so'}: {os.path.basename(path)}:{number} ({time.monotonic() - start:.0f} s)",
              flush=True)
        for line in said.splitlines():
            print("    " + line, flush=True)
        failed += not well
        boxes_run += 1
        waited += time.monotonic() - start
        if kind == "sh":
            commands += sum(bool(line.strip()) for line in lines)
        else:
            commands += 1
            questions_answered += len(questions_of(lines))
    if not found:
        print(f"not so: {argument} has no box that is to be run", flush=True)
        failed += 1
# For what a person needs: boxes, commands, questions, and seconds in which the person waited for the machine.
print(f"typed: {boxes_run} {commands} {questions_answered} {waited:.0f}")
sys.exit(1 if failed else 0)
