"""What gateways say, and what others say in their name: rows 2, 3, 5, 17 and 19."""
import json
import time

from rig import BOB, JANE, SITE, UUID, Gateway, Site, need, seconds


def dead_gateway(lab):
    """A gateway hears a tag for one second at -60 dBm and loses power. The tag stays at another one at -70."""
    site = Site(lab, "kitchen", "attic", tags=("Jane:7", "Bob:8"))
    site.house.put(JANE, kitchen=-70)
    site.house.put(BOB, attic=-60)
    need(lambda: site.room() == "Kitchen" and site.room("bob") == "Attic", 45, "both tags were reported")
    time.sleep(8)
    attic = site.house["attic"]
    attic.is_on = False
    attic.clock += 1000
    attic.levels = {JANE: -60}
    site.house.publish(attic, attic.message())
    inside = site.watch("Attic", 60)
    return f"{inside} of 60 s in the dead gateway's room", inside == 0


def one_message(lab):
    """One message of an invented gateway with a card. A real one hears the tag at -70 dBm each second."""
    site = Site(lab)
    site.house.put(JANE, kitchen=-70)
    need(lambda: site.room() == "Kitchen", 45, "the tag was reported")
    vault = Gateway("vault")
    vault.levels = {JANE: -60}
    site.eye.publish(f"{SITE}/gateway/vault", '{"v":1,"room":"Vault"}', True)
    site.house.publish(vault, vault.message())
    inside = site.watch("Vault", 25)
    return f"{inside} of 25 s in its room", inside == 0


def one_message_of_a_node(lab):
    """The same with an invented ESPresense node."""
    site = Site(lab)
    site.house.put(JANE, kitchen=-70)
    need(lambda: site.room() == "Kitchen", 45, "the tag was reported")
    site.eye.publish(f"espresense/devices/iBeacon:{UUID.lower()}-1-{JANE}/vault", '{"rssi@1m":-59,"rssi":-60,"distance":1}')
    inside = site.watch("vault", 25)
    return f"{inside} of 25 s in its room", inside == 0


def new_gateway_counts(lab):
    """A gateway that is really new: a service that believes nobody is no cure."""
    site = Site(lab, "kitchen", "hall")
    site.house.put(8, kitchen=-50, hall=-60)
    time.sleep(3)
    site.house.add("attic")
    site.house.put(JANE, attic=-55)
    took = site.reported("Attic", limit=30)
    return f"in its room {seconds(took)}", took is not None and took <= 12


def sequence_jumps(lab):
    """One message with the boot of each gateway and `seq` 2^62. Then the tag is carried on."""
    site = Site(lab)
    site.settle_in("kitchen")
    for gateway in site.house.gateways.values():
        site.house.publish(gateway, gateway.message(seq=1 << 62))
    time.sleep(1)
    site.house.stay(JANE, "hall")
    took = site.reported("Hall", limit=40)
    return f"in the next room {seconds(took)}", took is not None and took <= 15


def long_boots(lab):
    """250 invented gateways with five boots of 60 kB each, which are 64 characters of many bytes."""
    site = Site(lab)
    site.settle_in("kitchen")
    before = site.service.memory()
    most = before
    # One letter and its accents are one character.
    character = "e" + "\u0301" * 460
    for start in range(5):
        for number in range(250):
            boot = f"{number:03}{start}" + character * 60
            site.eye.publish(f"{SITE}/heard/big{number}", json.dumps(
                {"v": 1, "boot": boot, "seq": 1, "at": 1000, "listening": 1000, "reports": 1, "beacons": []}, ensure_ascii=False))
            time.sleep(0.005)
        most = max(most, site.service.memory())
    time.sleep(3)
    after = site.service.memory()
    site.house.stay(JANE, "hall")
    took = site.reported("Hall", limit=40)
    return (f"{after - before:.0f} MB more ({before:.0f}, {most:.0f} at most, {after:.0f} at the end), the next room "
            f"{seconds(took)}", after - before <= 24 and took is not None)


def impossible_voltage(lab):
    """Telemetry of 59 V from a tag; beside it a tag with 2.44 V, whose battery must be shown."""
    import recording
    reports = (recording.visit(JANE, 0, 6) + recording.telemetry(JANE, 0, 6, 59_000) +
               recording.visit(BOB, 0, 6) + recording.telemetry(BOB, 0, 6, 2_440))
    gateway = lab.gateway("hall", reports)
    gateway.configure(scanner={"capture": gateway.path("air.btsnoop"), "speed": 5})
    output, _, _ = gateway.ask("scan", "--json", "--duration", "3")
    beacons = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    found = {}
    for beacon in beacons:
        for minor in (JANE, BOB):
            if f":{minor}\"" in json.dumps(beacon) or beacon.get("minor") == minor:
                found[minor] = beacon.get("battery")
    shown = {minor: "none" if level is None else f"{level} %" for minor, level in found.items()}
    return (f"59 V is shown as {shown.get(JANE, 'no beacon')}, 2.44 V as {shown.get(BOB, 'no beacon')}",
            JANE in found and found[JANE] is None and found.get(BOB) is not None)
