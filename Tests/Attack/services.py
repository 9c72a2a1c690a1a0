"""Services that are forged, lose their state, or take over: rows 6, 9, 10, 13, 16 and 18."""
import json
import os
import shutil
import time

from rig import BOB, JANE, KEYS, SITE, NotTried, Site, need, parsed, tag, wait

ALL = (("Jane", JANE), ("Bob", BOB), ("Keys", KEYS))
SEALED = json.dumps({"_type": "encrypted", "data": "QUFB" * 30})  # with no key of anybody


def invented_services(lab):
    """32 invented services, which were there first, in a site of two real ones. Their counters move, pause until the standby has
    taken over, and go on."""
    site = Site(lab, start=False)
    cards = [f"{SITE}/service/zz-{number:02}" for number in range(32)]

    def move(counter):
        payload = json.dumps({"v": 1, "active": True, "counter": counter, "version": "1.0.0"})
        for topic in cards:
            site.eye.publish(topic, payload, True)

    # The broker gives retained messages in the order in which their topics were made.
    move(0)
    site.eye.settle()
    site.service.start()
    site.is_active()
    for counter in range(1, 3):
        move(counter)
        time.sleep(0.5)
    second = lab.service("b", [tag("Bob", BOB)]).start()
    if second.says("connected") is None:
        raise NotTried("the second service did not start")
    for counter in range(3, 6):
        move(counter)
        time.sleep(1)
    paused = wait(lambda: site.card("b").get("active") is True, 14)
    begin, counter = time.monotonic(), 6
    site.house.stay(JANE, "kitchen")
    while time.monotonic() - begin < 40:
        counter += 1
        move(counter)
        time.sleep(0.5)
        if counter == 46:
            site.house.stay(JANE, "hall")
    both, most = overlap(site, begin), busiest(site, f"{SITE}/tags", begin)
    return (f"two are active for {both} of 40 s{'' if paused is not None else ' (the standby never took over)'}; at most {most} "
            "lists of tags in a second", both <= 12 and most <= 3)


def overlap(site, begin):
    """In how many seconds the cards of both said within the last 3 s that they are active."""
    def is_active(name, at):
        cards = [message for message in site.eye.messages if message.topic == f"{SITE}/service/{name}" and message.at <= at]
        return bool(cards) and at - cards[-1].at < 3 and parsed(cards[-1].payload).get("active") is True

    return sum(1 for second in range(40) if is_active("a", begin + second) and is_active("b", begin + second))


def busiest(site, topic, begin):
    """The most messages on a topic in one second."""
    counts = {}
    for message in list(site.eye.messages):
        if message.topic == topic and message.at >= begin:
            counts[int(message.at)] = counts.get(int(message.at), 0) + 1
    return max(counts.values(), default=0)


def least_listed(site, begin, limit):
    """The fewest tags that the retained list had since then, over so many seconds more."""
    time.sleep(limit)
    lists = [len(parsed(message.payload).get("tags") or []) for message in list(site.eye.messages)
             if message.topic == f"{SITE}/tags" and message.at >= begin]
    return min(lists + [site.listed()])


def lost_state(lab):
    """The only service has lost its state. A person adds a tag."""
    site = Site(lab, tags=())
    for name, minor in ALL:
        site.service.tell("rooms", "tags", "add", tag(name, minor))
    need(lambda: site.listed() == 3, 30, "three tags were listed")
    site.service.kill()
    shutil.rmtree(site.service.path("state"))
    begin = time.monotonic()
    site.service.start()
    time.sleep(5)
    asks = "adopt" in "".join(site.service.ask("rooms", "status")[:2])
    site.service.ask("rooms", "tags", "add", tag("New", 10))
    least = least_listed(site, begin, 8)
    adopted = site.service.ask("rooms", "tags", "adopt")[2] == 0 and wait(lambda: site.listed() >= 3, 10) is not None
    return (f"the list of 3 has at least {least}; 'rooms status' {'asks' if asks else 'does not ask'} to adopt it, which "
            f"{'works' if adopted else 'does not work'}", least >= 3 and asks and adopted)


def sealed_list(lab):
    """A service without the site's key, which has no tags, finds a sealed list. A person adds a tag."""
    site = Site(lab, tags=(), start=False)
    site.eye.publish(f"{SITE}/tags", SEALED, True)
    site.eye.settle()
    site.service.start()
    if site.service.says("decides about site") is None:
        raise NotTried("the service did not start")
    time.sleep(3)
    site.service.ask("rooms", "tags", "add", tag("New", 10))
    replaced = wait(lambda: site.eye.latest.get(f"{SITE}/tags") != SEALED.encode(), 20)
    return ("the sealed list is replaced" if replaced is not None else "the sealed list stays"), replaced is None


def older_standby(lab):
    """A standby knows two of three tags. The active service is gone."""
    site = Site(lab, tags=(), start=False)
    second = lab.service("b")
    for name, minor in ALL[:2]:
        second.tell("rooms", "tags", "add", tag(name, minor))
    for name, minor in ALL:
        site.service.tell("rooms", "tags", "add", tag(name, minor))
    site.service.start()
    site.is_active()
    site.house.stay(KEYS, "kitchen")
    need(lambda: site.listed() == 3 and site.room("keys") == "Kitchen", 45, "the third tag was reported")
    second.start()
    if second.says("connected") is None:
        raise NotTried("the second service did not start")
    time.sleep(6)
    begin = time.monotonic()
    site.service.kill()
    site.is_active("b")
    least = least_listed(site, begin, 10)
    deleted = any(message.topic == f"{SITE}/tag/keys" and not message.payload for message in list(site.eye.messages))
    return (f"the list of 3 has at least {least}; the third tag's state is {'deleted' if deleted else 'kept'}",
            least >= 3 and not deleted)


FORGED = json.dumps({"name": "Jane", "room": "vault", "roomName": "Vault", "since": 1 << 62, "confidence": 1, "home": True})


def forged_state(lab):
    """While the service is down, a state of the tag is forged: in a room where it never was, since 2^62."""
    site = Site(lab)
    site.settle_in("kitchen")
    time.sleep(1)
    site.service.stop()
    site.eye.publish(f"{SITE}/tag/jane", FORGED, True)
    site.eye.settle()
    begin = len(site.events())
    site.service.start()
    site.is_active()
    site.reported("Kitchen", limit=20)
    time.sleep(5)
    site.house.stay(JANE, "hall")
    site.reported("Hall", limit=40)
    time.sleep(1)
    events = [f"{event} {room}" for _, event, room, _ in site.events()[begin:]]
    visits = [str(parsed(line).get("roomName")) for line in site.service.ask("rooms", "history", "--json")[0].splitlines()]
    return (f"{', '.join(events) or 'nothing'}; the history has {', '.join(visits)}",
            events == ["leave Kitchen", "enter Hall"] and sorted(visits) == ["Hall", "Kitchen"])


def forged_state_at_takeover(lab):
    """The same state is forged while a service is active. A standby starts after that, takes over, and the tag moves.

    The active service sends its states to the standby, so the standby knows the room and enters it no second time.
    """
    site = Site(lab)
    site.settle_in("kitchen")
    site.eye.publish(f"{SITE}/tag/jane", FORGED, True)
    site.eye.settle()
    second = lab.service("b", [tag("Jane", JANE)]).start()
    if second.says("connected") is None:
        raise NotTried("the second service did not start")
    time.sleep(6)
    site.service.kill()
    site.is_active("b")
    site.reported("Kitchen", limit=20)
    time.sleep(3)
    site.house.stay(JANE, "hall")
    site.reported("Hall", limit=40)
    time.sleep(1)
    events = [f"{event} {room}" for _, event, room, _ in site.events()]
    return ", ".join(events), events == ["enter Kitchen", "leave Kitchen", "enter Hall"]


def retained_commands(lab):
    """A retained clearWaypoints, at two starts, and a retained `forget`."""
    site = Site(lab, tags=(), start=False)
    site.service.tell("rooms", "tags", "add", tag("Jane", JANE))
    site.eye.publish("owntracks/jane/rooms-home/cmd", '{"_type":"cmd","action":"clearWaypoints"}', True)
    site.eye.publish(f"{SITE}/learn", '{"room":"Kitchen","forget":true}', True)
    site.eye.settle()
    left = []
    for _ in range(2):
        site.service.start()
        site.is_active()
        time.sleep(3)
        site.service.stop()
        left.append(site.service.tell("rooms", "tags", "list").count("Jane"))
    return f"{left[0]} and {left[1]} of 1 tag left after each start", left == [1, 1]


def forged_service_card(lab):
    """A site with a key; a card of a service that is not encrypted, ten times."""
    with open(lab.path("key"), "w") as file:
        file.write("correct horse battery staple\n")
    os.chmod(lab.path("key"), 0o600)
    site = Site(lab, encryptionKeyFile=lab.path("key"), start=False)
    site.service.start()
    if site.service.says("the active one") is None:
        raise NotTried(f"the service did not become active: {site.service.log[-300:]}")
    before = refused(site)
    for counter in range(10):
        payload = json.dumps({"v": 1, "active": True, "counter": counter, "version": "1.0.0"})
        site.eye.publish(f"{SITE}/service/b", payload, True)
        time.sleep(0.3)
    time.sleep(2)
    errors = [line for line in site.service.log.splitlines() if line.startswith("<3>")]
    counted = refused(site) - before
    return f"{len(errors)} errors in the log, {counted} of 10 counted", not errors and counted == 10


def refused(site):
    """How many messages the service has counted as refused because of the key."""
    lines = [line for line in site.service.fetch("/metrics").decode().splitlines()
             if line.startswith("ibeacon_rooms_messages_refused_total")]
    return int(sum(float(line.rsplit(" ", 1)[1]) for line in lines if "sealed" in line))


def unbelieved_gateways(lab):
    """A site with a key; sealed messages of 300 invented gateways, made without the key."""
    with open(lab.path("key"), "w") as file:
        file.write("correct horse battery staple\n")
    os.chmod(lab.path("key"), 0o600)
    site = Site(lab, encryptionKeyFile=lab.path("key"), start=False)
    site.service.start()
    if site.service.says("the active one") is None:
        raise NotTried(f"the service did not become active: {site.service.log[-300:]}")
    for number in range(300):
        site.eye.publish(f"{SITE}/heard/ghost{number}", SEALED)
    time.sleep(15)
    retained = sum(1 for topic, payload in site.eye.latest.items() if topic.startswith(f"{SITE}/health/ghost") and payload)
    return f"{retained} retained health topics", retained == 0
