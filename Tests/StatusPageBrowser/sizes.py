#!/usr/bin/env python3
"""The pages at the size of a business, in a real browser. usage: sizes.py GATEWAY [PICTURES]

A site with 12 gateways and 40 tags, then with 500 tags; a gateway with 40 regions. At the widths of a desk and of a phone, light and
dark, with the broker away and a gateway offline. PICTURES is the folder for screenshots (default: none are kept).
"""
import json, os, subprocess, sys, time
here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, "../Fixtures")]
import recording
from axe import Axe
from house import Broker, House, free_port, uuid, wait_for
from page import Page

program = os.path.abspath(sys.argv[1])
page = Page("pages", 90)
browser, path, check = page.browser, page.path, page.check
pictures = sys.argv[2] if len(sys.argv) > 2 else page.folder
os.makedirs(pictures, exist_ok=True)
sizes = {"desk": (1440, 900), "phone": (390, 844)}
rooms = ["Workshop", "Store", "Office", "Reception", "Kitchen", "Hall", "Meeting room", "Garage", "Loading bay", "Archive",
         "Laboratory", "Server room"]


def audit(name):
    """Pictures of the page in both sizes and colours, what axe finds in each, and whether it fits."""
    for size, (width, height) in sizes.items():
        for dark in (False, True):
            browser.view(width, height, dark=dark)
            time.sleep(0.7)
            what = f"{name} at {width} pixels, {'dark' if dark else 'light'}"
            found = axe.serious()
            browser.screenshot(os.path.join(pictures, f"{name}-{size}-{'dark' if dark else 'light'}.png"))
            assert not found, f"{what}: axe finds {found}"
            page.hold(what)
        page.fits(f"{name}: nothing is cut off at {width} pixels")


def screens(section, what, most=2):
    """How many screens a section ends below the top of the page."""
    for size, (width, height) in sizes.items():
        browser.view(width, height)
        time.sleep(0.7)
        end = browser.evaluate(f"document.getElementById('{section}').getBoundingClientRect().bottom + scrollY")
        print(f"{what} ends after {end:.0f} of {height} pixels at {width}", flush=True)
        check(f"{what} has at most {most} screens at {width} pixels", f"{end} <= {most * height}")


shifts = ("(scrollTo(0, 0), new Promise(done => { let sum = 0; const watch = new PerformanceObserver(list => list.getEntries()"
          ".forEach(entry => { sum += entry.value; })); watch.observe({ type: 'layout-shift' });"
          " setTimeout(() => { watch.disconnect(); done(sum); }, %d); }))")


def rests(what, seconds=6):
    for width, height in sizes.values():
        browser.view(width, height)
        time.sleep(0.7)
        sum = browser.evaluate(shifts % (seconds * 1000))
        assert sum == 0, f"{what}: the layout shifts by {sum} at {width} pixels"
        check(f"{what}: nothing moves at {width} pixels", "true")


class Service:
    def __init__(self, name, configuration, *command):
        self.name, self.http = name, free_port()
        self.url = f"http://127.0.0.1:{self.http}/"
        with open(path(f"{name}.json"), "w") as file:
            json.dump(configuration(f"127.0.0.1:{self.http}"), file)
        with open(path(f"{name}.log"), "w") as out:
            self.process = subprocess.Popen([program, "--config", path(f"{name}.json"), "--state-dir", path(name), *command],
                                            stderr=out)
        wait_for("curl", "-sf", "-o", "/dev/null", self.url)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(20)


def site(count):
    names = ["Forklift", "Drill", "Trolley", "Laptop", "Keys of the van", "Ladder", "Compressor", "Welder", "Pallet jack",
             "Anna\u2019s badge"]
    tags = [f"{names[number % 10]} {number + 1}:{uuid}:1:{number + 1}" for number in range(count)]
    return lambda listen: {"_type": "configuration", "host": "127.0.0.1", "port": broker.port, "username": "shop",
                           "http": None, "rooms": {"site": "home", "instance": "pi", "http": {"listen": listen}, "tags": tags}}


def is_live():
    check("the page is live", "document.getElementById('live')?.textContent === 'live'")


broker, service, house = Broker(page.folder), None, None
axe = Axe(browser)
try:
    broker.start()
    service = Service("site", site(40), "rooms", "run")
    for gateway, room in enumerate(rooms):
        broker.publish(f"ibeacon-rooms/home/gateway/g{gateway}", {"v": 1, "room": room, "version": "1.0.0", "scanner": "mgmt"}, "-r")
    house = House(broker, rooms)
    house.places = {number + 1: number % 12 for number in range(36)}
    house.batteries = {2: 8, 10: 55, 16: 3}
    browser.view(1440)
    browser.open(service.url)
    is_live()
    check("36 of 40 tags are in their rooms", "state.homeCount === 36 && document.querySelectorAll('.tag:not(.away)').length === 36")
    check("low batteries are told of the tags, and no others", "[...document.querySelectorAll('.tag')].filter(t => t.querySelector('.low'))"
          ".map(t => t.querySelector('.name').innerText + t.querySelector('.low').innerText.replace(/\\s/g, ' ')).sort().join()"
          " === 'Drill 2battery 8 %,Ladder 16battery 3 %'")
    check("and named as a finding", "document.getElementById('findings').innerText.includes('low batteries: Ladder 16 3 %; Drill 2 8 %')")
    screens("places", "who is where, of 40 tags")
    rests("40 tags at rest")
    audit("rooms-40")

    choose = "(value => { const order = document.getElementById('order'); order.value = value; order.dispatchEvent(new Event('change')); })('%s')"
    seek = "(text => { const field = document.getElementById('search'); field.value = text; field.dispatchEvent(new Event('input')); })('%s')"
    shown = "[...document.querySelectorAll('.tag .name')].map(n => n.innerText)"
    browser.evaluate(choose % "name")
    check("the tags can be sorted by name", f"(names => names.length === 40 && names.every((n, i) => !i || names[i - 1].localeCompare(n) <= 0))({shown})")
    screens("places", "the list of 40 names")
    house.places[1] = 5
    check("a tag that was carried is in its new room", "state.tags[Object.keys(state.tags).find(id => state.tags[id].name === 'Forklift 1')].room === 'hall'")
    house.places[1] = 8
    rests("a tag that is carried about in the list of names", 12)
    browser.evaluate(choose % "since")
    check("what moved last can be first", f"{shown}[0] === 'Forklift 1'")
    browser.evaluate(choose % "room")
    browser.evaluate(seek % "anna")
    check("tags are found by name", f"{shown}.length === 4")
    browser.evaluate(seek % "meeting")
    check("and by room", f"{shown}.length === 3")
    browser.evaluate(seek % "xyz")
    check("that nothing is found is told", "!document.getElementById('no-match').hidden")
    browser.evaluate(seek % "")

    broker.publish("ibeacon-gateway/g2/availability", "offline")
    house.silent.add(2)
    check("a room whose gateway is offline looks old", "[...document.querySelectorAll('.place.stale')].some(p => /Office/.test(p.innerText) && /as last known/.test(p.innerText))")
    audit("rooms-40-gateway-offline")
    screens("places", "who is where, with a gateway offline")
    browser.evaluate("document.querySelector('#day summary').click(), document.querySelector('.tag summary').click()")
    check("the day of each tag is drawn from the history", "document.querySelectorAll('#day-list li').length === 40 && document.querySelectorAll('#day-list .strip rect').length >= 36")
    check("and that of a tag that is opened", "document.querySelector('.tag .more .strip rect')")
    axed = axe.serious()
    assert not axed, f"the day: axe finds {axed}"
    browser.screenshot(os.path.join(pictures, "rooms-40-day.png"))
    browser.evaluate("document.querySelector('#day summary').click(), document.querySelector('.tag summary').click()")
    broker.stop()
    check("without a broker nothing looks new", "state.current === false && document.querySelectorAll('.place:not(.stale)').length <= 1"
          " && !document.querySelector('.tag:not(.away):not(.stale)') && !document.querySelector('.bar-now rect')")
    check("nothing is concluded from it", "!/sure|remove the gateway|check power/.test(document.body.innerText)")
    check("it is told since when", "document.getElementById('subtitle').innerText.includes('as last known')")
    audit("rooms-40-broker-away")
    screens("places", "who is where, with the broker away")
    house.end()
    house = None
    service.stop()

    broker.start()
    service = Service("large", site(500), "rooms", "run")
    house = House(broker, rooms)
    house.places = {number + 1: number % 12 for number in range(480)}
    browser.view(1440)
    browser.open(service.url)
    is_live()
    check("480 of 500 tags are in their rooms", "state.homeCount === 480")
    audit("rooms-500")
    browser.view(1440)
    hidden = "Object.keys(state.listed).length === 250 && !Object.values(state.listed).some(tag => tag.name === 'Compressor 497')"
    check("of 500 tags a part is listed", hidden)
    browser.evaluate(seek % "compressor 497")
    check("the others are found", f"{shown}.join() === 'Compressor 497'")
    browser.evaluate(seek % "")
    rests("500 tags at rest")
    house.end()
    house = None
    service.stop()

    # A gateway that hears 60 beacons: 30 keyfobs, each a tracker, and 10 regions of its own.
    recording.write(path("sixty.btsnoop"), [report for number in range(1, 61)
                                            for report in recording.visit(number, 0, 600, rssi=-60 - number % 20, rate=1)])
    keyfobs = [{"tid": f"{number:02}", "deviceId": f"key-{number}", "name": f"Keys {number}",
                "waypoints": [recording.waypoint(f"k{number}", "Workshop", number)]} for number in range(1, 31)]
    service = Service("gateway", lambda listen: {
        "_type": "configuration", "host": "127.0.0.1", "port": broker.port, "username": "shop", "deviceId": "pi",
        "http": {"listen": listen}, "scanner": {"capture": path("sixty.btsnoop")}, "trackers": keyfobs,
        "waypoints": [recording.waypoint(f"r{number}", f"Region {number}", number) for number in range(31, 41)]}, "run")
    browser.view(1440)
    browser.open(service.url)
    is_live()
    check("30 keyfobs are here, by their names", "document.querySelectorAll('.tracker.single .room.in').length === 30"
          " && /Keys 7/.test(document.getElementById('trackers').innerText) && /here since/.test(document.getElementById('trackers').innerText)")
    screens("trackers", "who is where, of 30 keyfobs and 10 regions")
    rests("a gateway with 60 beacons", 4)
    check("each beacon is one line", "[...document.querySelectorAll('#beacons tr')].length === 60 && [...document.querySelectorAll('#beacons tr')].every(row => row.getBoundingClientRect().height < 45)")
    check("a region is made only where there is none", "document.querySelectorAll('#beacons [data-role=make]').length === 20")
    check("what happened is said in names", "/Keys [0-9]+ entered Workshop/.test(document.getElementById('timeline').innerText)")
    audit("gateway-40")
    broker.stop()
    check("a broker that is away is told", "/127.0.0.1/.test(document.getElementById('findings').innerText)")
    audit("gateway-40-broker-away")
    service.stop()

    service = Service("radio", lambda listen: {
        "_type": "configuration", "host": "127.0.0.1", "port": 0, "username": "shop", "deviceId": "pi", "http": {"listen": listen},
        "adapter": "hci9", "waypoints": [recording.waypoint("r1", "Workshop", 1)]}, "run")
    browser.open(service.url)
    check("regions without an adapter look old", "[...document.querySelectorAll('.room')].every(room => room.classList.contains('stale') && room.innerText.includes('as last known'))")
    audit("gateway-without-adapter")
    page.asked_nobody_else("http://127.0.0.1:")
    print(f"all {page.passed} checks hold")
except AssertionError:
    browser.screenshot(os.path.join(pictures, "failed.png"))
    raise
finally:
    if house:
        house.end()
    if service:
        service.stop()
    broker.stop()
    page.close()
