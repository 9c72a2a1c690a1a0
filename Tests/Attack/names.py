"""Names and topics of others: rows 4, 11, 15 and 20, and what the commands print of them."""
import json
import re
import time

from mqtt import publication
from rig import JANE, SITE, Gateway, Site, need, seconds, wait

JUNK = 2_100  # more than a table of gateways or rooms may ever hold; 260 are enough at 82a7d5f


def junk_gateways(lab):
    """Cards of junk names, of which each tenth gateway speaks for three seconds, all emptied again. Then new gateways come, one
    before a restart of the service and one after it."""
    site = Site(lab)
    junk = [Gateway(f"junk-{number}") for number in range(JUNK)]
    site.eye.send(b"".join(publication(f"{SITE}/gateway/{gateway.name}", json.dumps({"v": 1, "room": f"Junk {number}"}), True)
                           for number, gateway in enumerate(junk)))
    for _ in range(4):
        for gateway in junk[::10]:
            site.eye.publish(f"{SITE}/heard/{gateway.name}", gateway.message())
            gateway.clock += 1000
        time.sleep(1)
    time.sleep(6)
    site.eye.send(b"".join(publication(f"{SITE}/gateway/{gateway.name}", b"", True) for gateway in junk))
    time.sleep(8)
    took = [welcome(site, "attic")]
    site.service.kill()
    site.service.start()
    site.is_active()
    took.append(welcome(site, "cellar"))
    shown = len(site.service.page_json().get("gateways", []))
    return (f"a new gateway's room {seconds(took[0])}, after a restart {seconds(took[1])}; the page has {shown} gateways",
            None not in took and shown <= 20)


def welcome(site, name):
    """A new gateway hears the tag: how many seconds until the tag is in its room."""
    site.house.add(name)
    site.house.stay(JANE, name)
    return site.reported(name.capitalize(), limit=30)


def junk_rooms(lab):
    """`learn` and `forget` of junk rooms. Then a new room is trained."""
    site = Site(lab)
    site.settle_in("kitchen")
    for number in range(JUNK):
        site.eye.publish(f"{SITE}/learn", json.dumps({"room": f"Junk {number}", "tag": "Jane", "seconds": 1}))
        site.eye.publish(f"{SITE}/learn", json.dumps({"room": f"Junk {number}", "forget": True}))
    site.eye.settle()
    time.sleep(8)
    site.eye.publish(f"{SITE}/learn", json.dumps({"room": "Sauna", "tag": "Jane", "seconds": 4}))
    took = wait(lambda: site.eye.latest.get(f"{SITE}/room/sauna"), 30)
    return f"the new room is published {seconds(took)}", took is not None


NAME = "Jane\x1b]0;owned\x07\x1b[2J\x9b2J\x7f\u202egnp\u2066\u200f\u061c\u2028\u200b\ufeff\r"
HARMFUL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\r(?!\n)")
COMMANDS = (["rooms", "status"], ["rooms", "gateways"], ["rooms", "status", "--json"], ["rooms", "gateways", "--json"],
            ["doctor", "--listen", "0"], ["rooms", "tags", "list"], ["rooms", "forget", "Ja\x1b[2Jne\u202e"])


def hostile_terminal(lab):
    """Retained names with control and direction characters, and what commands send to a terminal."""
    eye = lab.eye()
    name = json.dumps(NAME, ensure_ascii=False)
    for topic, payload in (
            ("gateway/g9", f'{{"v":1,"room":{name},"scanner":{name},"version":{name}}}'),
            ("health/g9", f'{{"v":1,"room":{name},"problem":"deaf","listening":false}}'),
            ("service/a", f'{{"v":1,"active":true,"counter":1,"version":{name}}}'),
            ("tag/jane", f'{{"v":1,"name":{name},"room":"x","roomName":{name},"home":true,"since":1}}'),
            ("room/x", f'{{"v":1,"name":{name},"count":1}}')):
        eye.publish(f"{SITE}/{topic}", payload, True)
    eye.settle()
    machine = lab.service("b")
    bad, silent = [], []
    for words in COMMANDS:
        shown = machine.terminal(*words).decode("utf-8", "surrogateescape")
        # The program's own colours are no harm.
        found = HARMFUL.findall(re.sub(r"\x1b\[[0-9;]*m", "", shown))
        bad += [" ".join(words[:2])] if found else []
        silent += [" ".join(words[:2])] if len(shown) < 5 else []
    seen = "Jane" in machine.terminal("rooms", "status").decode("utf-8", "replace")
    return (f"{len(bad)} of {len(COMMANDS)} commands let them through{': ' + ', '.join(sorted(set(bad))) if bad else ''}"
            f"{'' if seen else '; the name was not shown'}", not bad and not silent and seen)


def junk_states(lab):
    """60,000 retained states of tags, rooms and gateways that nobody knows. The service starts."""
    count = 60_000
    lab.broker("max_queued_messages 0", "max_inflight_messages 0")
    filler = lab.client("filler")
    state = json.dumps({"name": "x", "room": "y", "roomName": "y", "since": 1_700_000_000, "confidence": 1, "home": True})
    kinds = ("tag", "room", "health")
    for start in range(0, count, 1000):
        filler.send(b"".join(publication(f"{SITE}/{kinds[number % 3]}/junk{number}", state, True)
                             for number in range(start, start + 1000)))
    filler.settle()
    site = Site(lab)
    need(lambda: site.eye.count(lambda message: message.topic.rsplit("/", 1)[1].startswith("junk")) >= count, 60,
         "the broker gave the eye all of them", 1)

    def left():
        return sum(1 for topic, payload in list(site.eye.latest.items()) if "/junk" in topic and payload)

    site.house.stay(JANE, "kitchen")
    took = wait(lambda: left() == 0, 180, 0.5)
    rest = left()
    reported = site.reported("Kitchen", limit=20)
    site.service.stop()
    blamed = "disk" in site.service.log
    turn = site.service.longest_turn
    return (f"{rest} left ({seconds(took)}); the disk is {'blamed' if blamed else 'not blamed'}; longest turn {turn} ms",
            rest == 0 and not blamed and turn is not None and turn <= 100 and reported is not None)
