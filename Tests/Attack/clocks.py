"""Clocks that stand still, run slow, are not set, or jump: rows 1, 8 and 14."""
import time

from rig import JANE, NotTried, Site, need, parsed, seconds, wait

TEN_YEARS = 3653 * 86_400
LONG_AGO = 1_600_000_000  # nothing of today has an earlier time


def stands_still(lab):
    """The virtual machine of a gateway is paused for 20 s. Then the tag is carried into its room."""
    site = Site(lab)
    site.settle_in("kitchen")
    time.sleep(5)
    hall = site.house["hall"]
    hall.is_on = False
    time.sleep(20)
    hall.is_on = True
    time.sleep(2)
    site.house.stay(JANE, "hall")
    took = site.reported("Hall", limit=40)
    return f"in the gateway's room {seconds(took)}", took is not None and took <= 25


def runs_slow(lab):
    """The service's clock runs 8 % fast for 80 s: beside it, those of all gateways run slow."""
    site = Site(lab)
    site.settle_in("kitchen")
    for gateway in site.house.gateways.values():
        gateway.rate = 1 / 1.08
    time.sleep(80)
    for gateway in site.house.gateways.values():
        gateway.rate = 1.0
    time.sleep(5)
    site.house.stay(JANE, "hall")
    took = site.reported("Hall", limit=40)
    return f"in the next room {seconds(took)}", took is not None and took <= 20


def backlog(lab):
    """The link of a gateway waits for 20 s, and gives at once what was heard meanwhile. The tag has gone elsewhere."""
    site = Site(lab)
    site.settle_in("kitchen")
    time.sleep(5)
    hall = site.house["hall"]
    hall.held = []
    site.house.put(JANE, hall=-45, kitchen=-70)
    time.sleep(20)
    site.house.stay(JANE, "kitchen")
    site.reported("Kitchen", limit=10)
    site.house.release(hall)
    hall.held = None
    inside = site.watch("Hall", 12)
    site.house.stay(JANE, "hall")
    took = site.reported("Hall", limit=30)
    return (f"{inside} s in the room of the backlog, and in that of the next messages {seconds(took)}",
            inside == 0 and took is not None)


def late_is_named(lab):
    """A gateway whose messages come in bursts, 6 to 16 s late."""
    site = Site(lab)
    site.settle_in("kitchen")
    time.sleep(5)
    hall = site.house["hall"]
    hall.held = []
    named, begin = set(), time.monotonic()
    while time.monotonic() - begin < 60 and not any("late" in name.lower() for name in named):
        time.sleep(10)
        site.house.release(hall, before=time.monotonic() - 6)
        time.sleep(0.5)
        named.add(site.problem("hall") or "none")
    advice = "late" in site.service.ask("rooms", "gateways")[0].lower()
    return (f"the problem is {', '.join(sorted(named))}; 'rooms gateways' {'says' if advice else 'does not say'} 'late'",
            advice and any("late" in name.lower() for name in named))


def times(message):
    value = parsed(message.payload)
    return {name: value[name] for name in ("tst", "wtst", "created_at", "since") if isinstance(value.get(name), (int, float))}


def before_the_clock_is_set(lab):
    """The machine has no clock of its own, and starts in 1970. After 15 s the time comes from the network."""
    clock = lab.clock()
    clock.set(5 - time.time())
    site = Site(lab, clock=clock, start=False)
    site.service.start()
    if site.service.says("decides about site") is None:
        raise NotTried(f"the service did not start: {site.service.log[-300:]}")
    site.house.stay(JANE, "kitchen")
    time.sleep(15)
    clock.set(0)
    entered = wait(lambda: any(event == "enter" and room == "Kitchen" and abs(whole["tst"] - time.time()) < 120
                               for _, event, room, whole in site.events()), 40)
    site.house.stay(JANE, "hall")
    moved = wait(lambda: any(event == "enter" and room == "Hall" for _, event, room, _ in site.events()), 40)
    old = [message for message in site.eye.messages if any(0 < at < LONG_AGO for at in times(message).values())]
    text, _, _ = site.service.ask("rooms", "history", "--json")
    visits = [parsed(line) for line in text.splitlines()]
    wrong = sum(1 for visit in visits if any(0 < (visit.get(name) or LONG_AGO) < LONG_AGO for name in ("from", "to")))
    return (f"{len(old)} messages and {wrong} of {len(visits)} visits with a time of 1970; with the right time "
            f"{'reported' if entered is not None else 'never reported'}",
            not old and not wrong and visits != [] and entered is not None and moved is not None)


def jump_prunes(lab):
    """The wall clock jumps ten years ahead, and the service is told to read its configuration again."""
    clock = lab.clock()
    clock.set(0)
    site = Site(lab, clock=clock)
    for room in ("kitchen", "hall", "bath"):
        site.settle_in(room)

    def kept():
        return len(site.service.ask("rooms", "history", "--json")[0].splitlines())

    need(lambda: kept() >= 3, 20, "three visits were in the history", 0.5)
    before = kept()
    clock.set(TEN_YEARS)
    time.sleep(1)
    site.service.reload()
    time.sleep(5)
    after = kept()
    clock.set(0)
    time.sleep(1)
    # A person who wants no history gets none, at once.
    site.service.config["rooms"]["days"] = 0
    site.service.configure()
    site.service.reload()
    gone = wait(lambda: kept() == 0, 15, 0.5) is not None
    return f"{before} visits before, {after} after; with 'days' 0 {'deleted' if gone else 'not deleted'}", after >= before and gone
