"""What the scripts about documents and interfaces share: Markdown files, the version, the programs of Docs/Example."""
import json
import pathlib
import re
import subprocess
import sys

from options import stop

TOP = pathlib.Path(__file__).resolve().parent.parent
# The names in release.conf.
ADDRESSES = ("repository", "archive", "contact")
LIBRARIES = ["Base", "Beacon", "Regions", "Presence", "OwnTracks"]
EXAMPLE = TOP / "Docs/Example"


def say(text):
    print(f"== {text}", file=sys.stderr)


def run(*words, **options):
    """What a command printed; ends the script with what it said if it failed."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)
    if done.returncode:
        said = "\n".join((done.stdout + done.stderr).splitlines()[-30:])
        stop(1, f"{' '.join(map(str, words))} failed:\n{said}")
    return done.stdout


def version():
    return re.search(r'version = "([^"]*)"', (TOP / "Sources/Shell/Shell/Program.swift").read_text())[1]


def addresses(path=TOP / "release.conf"):
    """The addresses, by their names; an empty one is not known yet."""
    found = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        name, equals, value = (part.strip() for part in line.partition("="))
        if not equals or name not in ADDRESSES or name in found:
            stop(65, f"release.conf, line {number}: write each of {', '.join(ADDRESSES)} once, as NAME = ADDRESS")
        form = r"[^@\s<>]+@[^@\s<>]+\.[^@\s<>]+" if name == "contact" else r"https://[^\s<>\"'|`]+[^\s<>\"'|`/]"
        if value and not re.fullmatch(form, value):
            kind = "an address such as name@example.org" if name == "contact" else "an address that begins with https:// and ends without '/'"
            stop(65, f"release.conf, line {number}: '{value}' is not {kind}")
        found[name] = value
    if len(found) != len(ADDRESSES):
        stop(65, f"release.conf lacks {', '.join(name for name in ADDRESSES if name not in found)}; an empty value is allowed")
    return found


def target_triple():
    return json.loads(run("swift", "-print-target-info"))["target"]["unversionedTriple"]


def build_example(wrong):
    """Builds and runs the programs, and calls `wrong` if they print something else. Returns the folder of the modules."""
    say("the programs of Docs/Example")
    swift = ["swift", "build", "--package-path", EXAMPLE, "--scratch-path", TOP / ".build/example"]
    run(*swift)
    binaries = pathlib.Path(run(*swift, "--show-bin-path").strip())
    for source in sorted((EXAMPLE / "Sources").iterdir()):
        printed = run(binaries / source.name)
        expected = (EXAMPLE / "Printed" / f"{source.name}.txt").read_text()
        if printed != expected:
            wrong(f"{source.name} of Docs/Example prints\n{printed}and not\n{expected}")
    return binaries / "Modules"


def slug(title, separator="-"):
    """The anchor of a title, as GitHub makes it."""
    title = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title)
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", separator)


class Document:
    """One file. `boxes` are (line, what follows the fence, text), `links` are (line, target)."""

    def __init__(self, path):
        self.path = path
        self.anchors, self.links, self.boxes = set(), [], []
        fence = None
        for number, line in enumerate(path.read_text().split("\n"), 1):
            opened = re.match(r" *```(.*)", line)
            if fence:
                if line.strip() == "```":
                    self.boxes.append((fence[0], fence[1], "".join(fence[2])))
                    fence = None
                else:
                    fence[2].append(line + "\n")
            elif opened:
                fence = (number, opened[1].strip(), [])
            elif not line.startswith("    "):
                self.read(number, line)
        if fence:
            self.boxes.append((fence[0], "a box that is not closed", ""))

    def read(self, number, line):
        if title := re.match(r"#+ (.*)", line):
            anchor = base = slug(title[1])
            count = 0
            while anchor in self.anchors:
                count += 1
                anchor = f"{base}-{count}"
            self.anchors.add(anchor)
        text = re.sub(r"`[^`]*`", "", line)
        self.links += [(number, target) for target in re.findall(r"\]\(([^) ]+)[^)]*\)", text)]
