"""The settings as documents show them, made of what `config default` prints and of nothing else.

A row of Sources/Libraries/Configuration/Settings is the source. The manual page has its words, its default and what needs a
restart, Docs/configuration.md has the table of what a reload does. Scripts/interface writes and compares these parts.
"""
import re
from dataclasses import dataclass, field

from options import stop

SERVICES = ["gateway", "rooms service"]
# What begins the line about a change, and its words with those of the table.
CHANGE = "A change: "
EFFECTS = {"at once in": "live", "new connection of": "new connection", "restart of": "restart"}
# The comments around a part that is written here.
BEGIN = "Scripts/interface renew writes {} below, from the rows in Sources/Libraries/Configuration/Settings."
END = "Here ends what Scripts/interface renew writes."


@dataclass
class Setting:
    # A member of `rooms` has its path.
    name: str
    words: str
    # By the name of each service that uses the setting, in the words of the table.
    effects: dict
    # As it is written in the file; "{" for an object whose members are settings.
    value: str
    has_default: bool


@dataclass
class Section:
    title: str
    settings: list = field(default_factory=list)


def rows(sections):
    """All settings. Instead of an object, its members."""
    return [setting for section in sections for setting in section.settings if setting.value != "{"]


# MARK: reading

def read_default(text):
    """The sections of what `config default` prints."""
    sections, comment, outer = [], [], ""
    for line in map(str.strip, text.split('_type: "configuration",\n')[1].split("\n")):
        if title := re.fullmatch(r"// ==== (.*) ====", line):
            sections.append(Section(title[1]))
        elif line.startswith("// "):
            comment.append(line[3:])
        elif line == "//},":
            outer = ""
        elif row := re.fullmatch(r"//(\w+): (\{|.*,)(  // example)?", line):
            sections[-1].settings.append(Setting(outer + row[1], *read_comment(comment), row[2].rstrip(","), not row[3]))
            outer, comment = f"{row[1]}." if row[2] == "{" else outer, []
        elif line not in ("", "}"):
            stop(70, f"Scripts/settings.py cannot read this line of config default: {line}")
    return sections


def read_comment(lines):
    """The words of a setting, and the effects of a change."""
    words = " ".join(line for line in lines if not line.startswith(CHANGE))
    changes = [line.removeprefix(CHANGE) for line in lines if line.startswith(CHANGE)]
    if not changes:
        return words, {"gateway": "live"}
    effects = {}
    for part in changes[0].rstrip(".").split(", "):
        found = re.fullmatch(f"({'|'.join(EFFECTS)}) (?:the (gateway|rooms service)|both services)", part)
        if not found:
            stop(70, f"Scripts/settings.py cannot read this change of config default: {part}")
        effects.update({service: EFFECTS[found[1]] for service in ([found[2]] if found[2] else SERVICES)})
    return words, effects


# MARK: the manual page

def escaped(text):
    return text.replace("\\", r"\e").replace('"', r"\(dq")


def marked(text, names):
    """A macro with what stands in backticks."""
    if text in names:
        return f".Va {text}"
    if text.startswith("ibeacon-gateway "):
        return f".Ic {text}"
    return ".Li " + escaped(text).replace(" ", r"\ ")


def mdoc(words, names):
    """Words as lines of the manual page: each sentence begins a line, and so does what stands in backticks."""
    lines = []
    for sentence in re.split(r"(?<=\.) ", words):
        # Between the texts, what stands in backticks with the punctuation that touches it.
        pieces = re.split(r"(\(?`[^`]+`[.,:;)]*)", sentence)
        for place, piece in enumerate(pieces):
            if place % 2:
                opening, text, closing = re.fullmatch(r"(\(?)`([^`]+)`(.*)", piece).groups()
                macro, _, arguments = marked(text, names).partition(" ")
                lines.append(" ".join([macro, *opening, arguments, *closing]))
                continue
            # mdoc would put a space there.
            if "`" in piece or place and piece[:1].strip() or place + 1 < len(pieces) and piece[-1:].strip():
                stop(70, f"Scripts/settings.py cannot mark this in the manual page: {sentence}")
            if piece.strip():
                lines.append(re.sub(r"^(?=[.'])", r"\\&", escaped(piece.strip())))
    return lines


def restarts(sections):
    lines = []
    for service in SERVICES:
        names = [row.name for row in rows(sections) if row.effects.get(service) == "restart"]
        lines += [".Pp"] * bool(lines) + [f"Restart of the {service}:"]
        lines += [f".Va {name} {'.' if name == names[-1] else ','}" for name in names]
    return lines


def explanations(sections):
    names = {setting.name for section in sections for setting in section.settings}
    lines = []
    for section in sections:
        lines += [f".Sh {section.title.upper()}", ".Bl -tag -width Ds"]
        for setting in section.settings:
            lines += [f".It Va {setting.name}", *mdoc(setting.words, names)]
            # "…" stands for a secret.
            if setting.value not in ("{", '"…"'):
                lines += ["Default:" if setting.has_default else "Example:", *mdoc(f"`{setting.value}`", set())]
        lines.append(".El")
    return lines


# MARK: the table of what a reload does

def table(sections):
    lines = ["", f"| setting | {' | '.join(SERVICES)} |", "|---|---|---|"]
    for row in rows(sections):
        lines.append(f"| `{row.name}` | {' | '.join(row.effects.get(service, '–') for service in SERVICES)} |")
    return [*lines, ""]


# MARK: the parts of documents

# For each file below Docs: how a comment is written there, and what makes the lines of each part.
DOCUMENTS = {
    "man/ibeacon-gateway.json.5": (r'.\" {}', {"the restarts": restarts, "the settings": explanations}),
    "configuration.md": ("<!-- {} -->", {"the table": table}),
}


def renewed(name, text, sections):
    """The text of a document with its parts as the settings are."""
    comment, parts = DOCUMENTS[name]
    for part, lines in parts.items():
        begin, end = comment.format(BEGIN.format(part)) + "\n", comment.format(END) + "\n"
        before, begins, rest = text.partition(begin)
        _, ends, after = rest.partition(end)
        if not begins or not ends:
            stop(70, f"Docs/{name} has lost a comment around {part}; it needs the lines:\n{begin}{end}")
        text = before + begin + "".join(f"{line}\n" for line in lines(sections)) + end + after
    return text
