"""Checks an add-on's description by the rules that Home Assistant's Supervisor has for it.

usage: check_add_on.py CONFIG.yaml [OPTIONS.json]
Prints what is wrong, one line each; status 1 if anything is. OPTIONS.json gets the options, as Supervisor hands them over.

The rules are those of Supervisor's published schema (home-assistant/supervisor, supervisor/addons/validate.py, options.py and
docker/const.py), of what an add-on without an image of its own can have. Supervisor ignores a key that it does not know.
Here it is a mistake, for a misspelt key is one.
"""
import json
import re
import sys

import yaml

ARCHITECTURES = {"armhf", "armv7", "aarch64", "amd64", "i386"}
PRIVILEGES = {"BPF", "CHECKPOINT_RESTORE", "DAC_READ_SEARCH", "IPC_LOCK", "NET_ADMIN", "NET_RAW", "PERFMON", "SYS_ADMIN",
              "SYS_MODULE", "SYS_NICE", "SYS_PTRACE", "SYS_RAWIO", "SYS_RESOURCE", "SYS_TIME"}
ELEMENT = re.compile(
    r"(?:bool|email|url|port|device(?:\(subsystem=[a-z]+\))?"
    r"|(?:str|password|int)(?:\((?P<low>\d*),(?P<high>\d*)\))?|float(?:\((?P<least>[\d.]*),(?P<most>[\d.]*)\))?"
    r"|match\((?P<match>.*)\)|list\((?P<list>.+)\))\??")


def is_text(value):
    return isinstance(value, str)


def is_flag(value):
    return isinstance(value, bool)


def one_of(*values):
    return lambda value: value in values


def list_of(rule):
    return lambda value: isinstance(value, list) and all(rule(one) for one in value)


def matches(pattern):
    return lambda value: is_text(value) and re.match(pattern, value) is not None


def is_port(value):
    return isinstance(value, int) and not is_flag(value) and 1 <= value <= 65535


def is_seconds_to_stop(value):
    return isinstance(value, int) and not is_flag(value) and 10 <= value <= 300


REQUIRED = {
    "name": is_text, "version": lambda value: is_text(value) and bool(value), "slug": matches(r"^[-_.A-Za-z0-9]+$"),
    "description": is_text, "arch": list_of(one_of(*ARCHITECTURES)),
}
FLAGS = """init advanced ingress ingress_stream panel_admin host_network host_pid host_ipc host_uts host_dbus udev tmpfs apparmor
    full_access audio video gpio usb uart devicetree kernel_modules realtime hassio_api homeassistant_api stdin legacy docker_api
    auth_api journald""".split()
OPTIONAL = {
    **{flag: is_flag for flag in FLAGS},
    "url": matches(r"^https?://[^/]+"), "startup": one_of("initialize", "system", "services", "application", "once"),
    "boot": one_of("auto", "manual", "manual_only"), "stage": one_of("stable", "experimental", "deprecated"),
    "ports": lambda value: isinstance(value, dict) and all(
        matches(r"^\d+(?:/tcp|/udp)?$")(key) and (port is None or is_port(port)) for key, port in value.items()),
    "ports_description": lambda value: isinstance(value, dict) and all(map(is_text, value.values())),
    "watchdog": matches(r"^(?:https?|\[PROTO:\w+\]|tcp)://\[HOST\]:(\[PORT:\d+\]|\d+).*$"),
    "webui": matches(r"^(?:https?|\[PROTO:\w+\])://\[HOST\]:\[PORT:\d+\].*$"),
    "devices": list_of(is_text), "environment": lambda value: isinstance(value, dict) and all(map(is_text, value.values())),
    "map": list_of(matches(r"^(data|config|ssl|addons|backup|share|media|homeassistant_config|all_addon_configs|addon_config)"
                           r"(:(rw|ro))?$")),
    "privileged": list_of(one_of(*PRIVILEGES)), "services": list_of(matches(r"^(mqtt|mysql):(provide|want|need)$")),
    "backup": one_of("hot", "cold"), "backup_exclude": list_of(is_text), "timeout": is_seconds_to_stop,
    "image": matches(r"^([a-zA-Z\-.:\d{}]+/)*?([\-\w{}]+)/([\-\w{}]+)$"), "homeassistant": is_text, "panel_icon": is_text,
    "panel_title": is_text, "options": lambda value: isinstance(value, dict),
    "schema": lambda value: value is False or isinstance(value, dict),
}


def element_problems(element, path):
    """What is wrong with the description of an option."""
    if is_text(element):
        if not ELEMENT.fullmatch(element):
            yield f"{path}: '{element}' is no type"
    elif isinstance(element, list):
        if len(element) != 1 or isinstance(element[0], list):
            yield f"{path}: a list has one type, which is no list"
        else:
            yield from element_problems(element[0], f"{path}[]")
    elif isinstance(element, dict):
        for key, inner in element.items():
            yield from element_problems(inner, f"{path}.{key}")
    else:
        yield f"{path}: {element!r} is no type"


def within(value, found):
    low, high = found["low"] or found["least"], found["high"] or found["most"]
    return (not low or value >= float(low)) and (not high or value <= float(high))


def value_problems(value, element, path):
    """What is wrong with the value of an option."""
    if isinstance(element, list):
        if not isinstance(value, list):
            yield f"{path}: not a list"
            return
        for number, one in enumerate(value):
            yield from value_problems(one, element[0], f"{path}[{number}]")
    elif isinstance(element, dict):
        if not isinstance(value, dict):
            yield f"{path}: not a group of options"
            return
        for key, inner in element.items():
            first = inner[0] if isinstance(inner, list) and inner else inner
            if key in value:
                yield from value_problems(value[key], inner, f"{path}.{key}")
            elif not (is_text(first) and first.endswith("?")):
                yield f"{path}.{key}: is missing and not optional"
        for key in value.keys() - element.keys():
            yield f"{path}.{key}: is not in the schema"
    else:
        found = ELEMENT.fullmatch(element)
        kind = re.match(r"[a-z]*", element)[0]
        number = isinstance(value, (int, float)) and not is_flag(value)
        holds = {
            "bool": lambda: is_flag(value), "port": lambda: is_port(value),
            "int": lambda: number and isinstance(value, int) and within(value, found), "float": lambda: number and within(value, found),
            "str": lambda: is_text(value), "password": lambda: is_text(value), "email": lambda: matches(r"[^@]+@[^@]+$")(value),
            "match": lambda: re.match(found["match"], str(value)) is not None,
            "list": lambda: str(value) in found["list"].split("|"),
        }.get(kind, lambda: is_text(value))
        if value is None or not holds():
            yield f"{path}: {value!r} is no {element}"


def problems(config):
    if not isinstance(config, dict):
        yield "the description is no group of keys"
        return
    for key in REQUIRED.keys() - config.keys():
        yield f"{key}: is missing"
    for key, value in config.items():
        rule = REQUIRED.get(key) or OPTIONAL.get(key)
        if rule is None:
            yield f"{key}: Supervisor does not know this"
        elif not rule(value):
            yield f"{key}: {value!r} is not allowed"
    schema = config.get("schema", {})
    if isinstance(schema, dict):
        found = list(element_problems(schema, "schema"))
        yield from found
        if not found:
            yield from value_problems(config.get("options", {}), schema, "options")


def test_the_rules(config):
    """A description that breaks a rule is refused, or the check shows nothing."""
    broken = [
        {"slug": "no spaces"}, {"arch": ["riscv64"]}, {"privileged": ["CAP_NET_ADMIN"]}, {"startup": "early"}, {"timeout": 5},
        {"host_network": "yes"}, {"host_netwrok": True}, {"version": 1}, {"schema": {"host": "string"}},
        {"schema": {"enterRSSI": "int(-127,20)"}},
        {"options": {"host": "x"}}, {"options": dict(config["options"], port=0)}, {"options": dict(config["options"], scanner="usb")},
        {"options": dict(config["options"], other=1)}, {"services": ["mqtt"]},
    ]
    for change in broken:
        if not list(problems({**config, **change})):
            yield f"the check does not see what is wrong with {change}"
    for key in REQUIRED:
        if not list(problems({other: value for other, value in config.items() if other != key})):
            yield f"the check does not miss {key}"


description = yaml.safe_load(open(sys.argv[1], encoding="utf-8"))
wrong = list(problems(description)) or list(test_the_rules(description))
print("\n".join(wrong), end="\n" if wrong else "")
if len(sys.argv) > 2:
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(description["options"], file)
sys.exit(1 if wrong else 0)
