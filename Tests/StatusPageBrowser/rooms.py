#!/usr/bin/env python3
"""The page of the rooms service in a real browser. usage: rooms.py GATEWAY [IMAGES]

A real broker, the service, and three gateways that say what this script has them say. IMAGES is the folder for screenshots;
with it, the tags walk for a minute first (default: none are kept).
"""
import json, os, shutil, subprocess, sys, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from house import Broker, House, free_port, uuid, wait_for
from page import Page

program = os.path.abspath(sys.argv[1])
page = Page("rooms-page", 90)
browser, path, check, fits = page.browser, page.path, page.check, page.fits
images = sys.argv[2] if len(sys.argv) > 2 else page.folder


def picture(name, full=True):
    time.sleep(1.2)
    browser.screenshot(os.path.join(images, name), full=full)


http = free_port()
url = f"http://127.0.0.1:{http}/"
broker = Broker(page.folder)
mqtt, publish = broker.port, broker.publish
with open(path("config.json"), "w") as file:
    json.dump({"_type": "configuration", "host": "127.0.0.1", "port": mqtt, "username": "jane",
               "rooms": {"site": "home", "instance": "pi-hall", "http": {"listen": f"127.0.0.1:{http}"},
                         "tags": [f"Jane:{uuid}:1:7"]}}, file)
place = "[...document.querySelectorAll('.place')].find(p => p.querySelector('h3').innerText.trim() === '%s')"
tag = "[...document.querySelectorAll('.tag')].find(t => t.querySelector('.name').innerText.trim() === '%s')"
inside = "(" + place + ")?.innerText.includes('%s')"
running, house = [], None
try:
    broker.start()
    with open(path("log"), "w") as out:
        running.append(subprocess.Popen(
            [program, "--config", path("config.json"), "--state-dir", path("state"), "--verbose", "rooms", "run"],
            stderr=out))
    wait_for("curl", "-sf", "-o", "/dev/null", url)
    browser.view(1100)
    browser.open(url)
    check("the page is live", "document.getElementById('live')?.textContent === 'live'")
    check("that no gateway is there is told", "document.getElementById('findings').innerText.includes('no gateway')")
    check("a tag that was never heard is away", inside % ("Away", "Jane"))

    for gateway, room in enumerate(House.rooms):
        publish(f"ibeacon-rooms/home/gateway/g{gateway}",
                {"v": 1, "room": room, "version": "0.1.0" if gateway < 2 else "0.0.9", "scanner": "mgmt"}, "-r")
    house = House(broker)
    house.places[7] = 0
    check("the tag is in its room", inside % ("Kitchen", "Jane"))
    check("gateways listen", "document.querySelectorAll('#gateways .pill.good').length === 3")
    check("a gateway of another version is marked",
          "document.querySelector('#gateways .bad')?.innerText.includes('another version')")
    check("its belief is drawn", "document.querySelectorAll('.tag .bar-now rect').length > 0")
    browser.evaluate((tag % "Jane") + ".querySelector('summary').click()")
    check("it says why", (tag % "Jane") + ".innerText.includes('Heard by g0 at')")
    check("the last five minutes are drawn with a legend, in which what nobody looked at is not what is improbable",
          "['Kitchen', 'other rooms', 'not recorded'].every(text => (" + tag % "Jane" + ").querySelector('.keys').innerText.includes(text))"
          " && (" + tag % "Jane" + ").querySelectorAll('.belief path').length > 1")
    check("what was not recorded has no colour of a room in the legend",
          "(k => getComputedStyle(k).backgroundColor === 'rgba(0, 0, 0, 0)')((" + tag % "Jane" + ").querySelector('.keys .swatch.none'))")
    check("the reasons stay open while the page is live",
          "new Promise(r => setTimeout(() => r(" + (tag % "Jane") + ".querySelector('details').open), 2500))")
    house.places[7] = 1
    check("a tag that is carried is in its new room", inside % ("Hall", "Jane"))
    check("the new room is spoken", "document.getElementById('announcer').textContent === 'Jane is in Hall'")

    # A tag, with the keyboard alone.
    browser.evaluate("document.getElementById('add-tag').focus()")
    browser.key("Enter", 13, "\r")
    check("the dialog opens", "document.getElementById('tag-dialog').open")
    browser.evaluate("document.getElementById('tag-name').focus()")
    browser.type("Keys")
    browser.key("Tab", 9)
    browser.type("not a beacon")
    browser.key("Enter", 13, "\r")
    check("the token is asked for", "document.getElementById('token-dialog').open")
    token = subprocess.run([program, "--config", path("config.json"), "--state-dir", path("state"), "status", "--token"],
                           check=True, capture_output=True, text=True).stdout.strip()
    browser.type(token)
    browser.key("Enter", 13, "\r")
    check("what is no beacon is refused, with what to write",
          "document.getElementById('tag-error').innerText.includes('UUID:major:minor')")
    browser.evaluate("document.getElementById('tag-beacon').value = ''; document.getElementById('tag-beacon').focus()")
    browser.type(f"{uuid}:1:9")
    browser.key("Enter", 13, "\r")
    check("the tag is there", tag % "Keys")
    check("the dialogs are closed", "!document.querySelector('dialog[open]')")
    check("scripts cannot read the token", f"!document.cookie.includes('{token}')")
    house.places[9] = 2
    check("the new tag is heard", inside % ("Bath", "Keys"))
    listed = subprocess.run([program, "--config", path("config.json"), "--state-dir", path("state"), "rooms", "tags",
                             "list"], check=True, capture_output=True, text=True).stdout
    assert "Keys" in listed, listed
    check("a tag of the configuration cannot be changed here", "!(" + (tag % "Jane") + ").querySelector('.edit')")
    browser.evaluate((tag % "Keys") + ".querySelector('summary').click()")
    check("another one can be, once it is opened", "(" + tag % "Keys" + ").querySelector('.edit')")
    browser.evaluate((tag % "Keys") + ".querySelector('.edit').click()")
    check("the form has the name", "document.getElementById('tag-name').value === 'Keys'")
    browser.evaluate("document.getElementById('tag-name').value = ''; document.getElementById('tag-name').focus()")
    browser.type("Car keys")
    browser.key("Enter", 13, "\r")
    check("the tag has its new name, and is where it was", inside % ("Bath", "Car keys"))

    check("tags that change their rooms together are all spoken",
          "(() => { show({...state, tags: Object.fromEntries(Object.entries(state.tags).map(([id, tag]) => [id, {...tag, home: false}]))});"
          " return document.getElementById('announcer').textContent === 'Car keys is away. Jane is away'; })()")

    # A beacon becomes a tag, with the keyboard alone.
    beacon = "[...document.querySelectorAll('#nearby-list li')].find(l => l.innerText.includes(':2:%d'))"
    asked = subprocess.Popen(["mosquitto_sub", "-p", str(mqtt), "-t", "ibeacon-rooms/home/nearby", "-C", "1", "-W", "90"],
                             stdout=subprocess.PIPE, text=True)
    house.others[5] = 1
    check("without a request no beacon is listed",
          "new Promise(r => setTimeout(() => r(document.getElementById('nearby').hidden), 2500))")
    browser.evaluate("document.getElementById('find-beacons').focus()")
    browser.key("Enter", 13, "\r")
    check("the list of beacons has the focus", "document.activeElement.id === 'h-nearby'")
    assert json.loads(asked.communicate(timeout=90)[0]) == {"v": 1, "seconds": 60}
    check("a beacon is listed with the room of the nearest gateway", "(" + beacon % 5 + ")?.innerText.includes('Hall (g1)')")
    check("its region is marked", "(" + beacon % 5 + ").innerText.includes('in the region Bikes')")
    house.others[6] = 0
    check("another one is listed live", beacon % 6)
    browser.evaluate("(" + beacon % 5 + ").querySelector('button').focus()")
    check("the button keeps the focus while levels change",
          "new Promise(r => setTimeout(() => r(document.activeElement.getAttribute('aria-label')?.endsWith(':2:5') === true), 3500))")
    browser.view(390, 844, dark=True, scale=2)
    fits("the list of beacons fits a phone")
    browser.view(1100)
    browser.evaluate("(" + beacon % 5 + ").querySelector('button').focus()")
    browser.key("Enter", 13, "\r")
    check("the form has the beacon", f"document.getElementById('tag-beacon').value === '{uuid}:2:5'")
    check("a name is asked for", "document.activeElement.id === 'tag-name'")
    browser.type("Bike")
    browser.key("Enter", 13, "\r")
    check("the beacon is a tag", tag % "Bike")
    check("it is marked as one", "(" + beacon % 5 + ").innerText.includes('the tag Bike') && !(" + beacon % 5 + ").querySelector('button')")
    house.others.clear()

    if len(sys.argv) > 2:
        for room in (0, 1, 2, 1, 0, 1):
            house.places[7] = room
            time.sleep(11)

    # Training, with a room that has no gateway.
    browser.evaluate("document.getElementById('training-room').value = 'Larder'; document.getElementById('training-tag').value = 'jane'")
    browser.evaluate("said = []; new MutationObserver(() => said.push(document.getElementById('training-announcer').textContent))"
                     ".observe(document.getElementById('training-announcer'), { childList: true })")
    browser.evaluate("document.getElementById('training-start').click()")
    check("a ring shows the training", "document.querySelector('#trainings .ring')?.textContent.startsWith('1:')")
    check("it tells how often the tag was heard", "/heard in [1-9]/.test(document.getElementById('trainings').innerText)")
    browser.evaluate("document.activeElement.blur(), scrollTo(0, 0)")
    picture("rooms-page.png")
    browser.view(390, 844, dark=True, scale=2)
    fits("it fits a phone")
    browser.view(1100)
    # Rooms are compared one at a time: the first question meets another one.
    browser.evaluate("request = fetch; busy = 1; fetch = (path, ...rest) => path.startsWith('/room.json') && path.includes('&tag=') && busy-- > 0"
                     " ? Promise.resolve({ ok: false, status: 503, text: async () => 'another room is compared now' }) : request(path, ...rest)")
    browser.evaluate("document.querySelector('#trainings [data-role=stop]').click()")
    check("a training run that is stopped brings its result in words",
          "document.getElementById('trainings').innerText.includes('Not trained yet: Kitchen, Hall, Bath')")
    check("the beginning and the end of a training are spoken, and every half minute, but not every second",
          "said.every(text => /: (120|90|60|30) seconds left$|is over/.test(text)) && said[0].endsWith(': 120 seconds left')"
          " && said.at(-1).startsWith('Training of Larder with Jane is over') && !document.getElementById('trainings').closest('[aria-live]')")
    house.places[7] = 0
    listed = "[...document.querySelectorAll('#room-list li')].find(l => l.querySelector('.who').innerText.trim() === 'Larder')"
    check("to forget is not as near as to train", "(" + listed + ").querySelector('[data-role=forget]').classList.contains('quiet')"
          " && !(" + listed + ").querySelector('[data-role=train]').classList.contains('quiet')")
    browser.evaluate("(" + listed + ").querySelector('[data-role=forget]').click()")
    check("forgetting is asked", "document.getElementById('confirm-dialog').open")
    check("the tag is elsewhere", inside % ("Kitchen", "Jane"))
    browser.evaluate("document.querySelector('#confirm-dialog .danger').click()")
    check("a room without a gateway is gone with its training", "!" + (place % "Larder"))

    # A room with two gateways, of which one names another room: a person says why.
    def stands(gateway, room, **more):
        publish(f"ibeacon-rooms/home/gateway/g{gateway}", {"v": 1, "room": room, "version": "0.1.0", "scanner": "mgmt", **more}, "-r")

    asked = "[...document.querySelectorAll('#findings li')].find(l => l.innerText.includes(`%s`))"
    room = "[...document.querySelectorAll('#room-list li')].find(l => l.querySelector('.who').innerText.trim() === '%s')"
    stands(2, "Hall")
    house.places[7] = 1
    check("the tag is carried to a room with two gateways",
          inside % ("Hall", "Jane") + " && (" + room % "Hall" + ").innerText.includes('g1, g2')")
    publish("ibeacon-rooms/home/learn", {"room": "Hall", "tag": "jane", "seconds": 10})
    check("it is trained", "(" + room % "Hall" + ").querySelector('.pill.good') && !document.querySelector('#trainings .ring')")
    question = asked % "g2 names the room 'Lounge', and 'Hall' before"
    check("nothing is asked of gateways that stay", "!" + question)
    stands(2, "Lounge")
    check("the page asks why a gateway names another room, with a button for each answer",
          "(" + question + ")?.querySelectorAll('button').length === 2 && !(" + question + ").innerText.includes('ibeacon-gateway')")
    browser.view(390, 844)
    fits("the question fits a phone")
    browser.view(1100)
    browser.evaluate("(" + question + ").querySelector('[data-role=moved]').focus()")
    check("the button keeps the focus while the page is live",
          "new Promise(r => setTimeout(() => r(document.activeElement.dataset.role === 'moved'), 2500))")
    browser.key("Enter", 13, "\r")
    check("that it was carried is confirmed", "document.getElementById('confirm-dialog').open"
          " && document.getElementById('confirm-text').innerText.includes('What g2 measured in Hall is deleted')")
    browser.evaluate("document.getElementById('confirm-ok').focus()")
    browser.key("Enter", 13, "\r")
    check("the gateway that was carried is in its new room, and nothing is asked",
          "!" + question + " && (" + room % "Lounge" + ").innerText.includes('g2') && (" + room % "Hall" + ").querySelector('.pill.good')")
    check("what no longer is asked is refused", "send('/gateways/moved', { gateway: 'g2' }).then(async answer => answer.status === 422"
          " && (await answer.text()).includes('there is no question whether g2 was carried'))")
    stands(2, "Hall")
    check("two gateways are in the room again", "(" + room % "Hall" + ").innerText.includes('g1, g2')")
    stands(1, "Lounge")
    question = asked % "g1 names the room 'Lounge', and 'Hall' before"
    check("the other gateway is asked about", question)
    browser.evaluate("(" + question + ").querySelector('[data-role=renamed]').click()")
    check("that it was renamed is confirmed", "document.getElementById('confirm-text').innerText.includes('is kept as that of Lounge')")
    browser.evaluate("document.getElementById('confirm-ok').click()")
    check("the training belongs to the new name, and nothing is asked",
          "!" + question + " && (" + room % "Lounge" + ").querySelector('.pill.good') && !(" + room % "Hall" + ").querySelector('.pill.good')")
    stands(2, "Bath")
    house.places[7] = 0
    check("the tag is carried back", inside % ("Kitchen", "Jane"))
    # Floors, as the cards say them.
    places = ((0, "Kitchen", 0), (1, "Lounge", 1), (2, "Bath", 1))
    for gateway, name, floor in places:
        stands(gateway, name, floor=floor)
    headings = "[...document.querySelectorAll('#places h3')].map(h => h.innerText.trim()).join()"
    check("the rooms stand below their floors, the lowest first", f"/^Ground floor,Kitchen,Floor 1,(Bath,Lounge|Lounge,Bath)/.test({headings})")
    browser.view(390, 844)
    fits("floors fit a phone")
    browser.view(1100)
    for gateway, name, _ in places:
        stands(gateway, name)
    check("where no floor is known, none is shown", f"!{headings}.includes('floor') && {headings}.includes('Kitchen')")

    # Another gateway: the command that makes its card, and what stands on it.
    card = "[...document.querySelectorAll('#card-files details')].find(d => d.querySelector('summary').innerText === '%s')?.querySelector('pre').textContent"
    browser.evaluate("document.getElementById('add-gateway').focus()")
    browser.key("Enter", 13, "\r")
    check("the dialog for a gateway opens", "document.getElementById('card-dialog').open")
    check("a broker that others reach otherwise is asked for", "document.getElementById('card-error').innerText.includes('the broker is on this machine')")
    for field, text in (("card-host", "broker.lan"), ("card-room", "Jane's attic"), ("card-wifi", "Home"), ("card-country", "de")):
        browser.evaluate(f"document.getElementById('{field}').focus()")
        browser.type(text)
    check("the command is shown, quoted for a shell",
          "document.getElementById('card-command').textContent.startsWith(\"ibeacon-gateway card --room 'Jane'\\\\''s attic' --site home --host broker.lan --port \")")
    check("what it needs is said", "document.getElementById('card-needs').innerText.includes(\"asks for the password of 'jane-s-attic'\")"
          " && !document.getElementById('card-error').innerText")
    check("the files of the card are shown", "(" + card % "user-data" + " ?? '').includes('room: \"Jane\\'s attic\"') && (" + card % "network-config" + " ?? '').includes('regulatory-domain: \"DE\"')")
    os.mkdir(path("cards"), 0o700)
    for name, text in (("archive.asc", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmDMEabc=\n-----END PGP PUBLIC KEY BLOCK-----\n"),
                       ("login", "a login that is secret\n"), ("wifi", "a network that is secret\n")):
        with open(path("cards/" + name), "w") as file:
            file.write(text)
    command = browser.evaluate("document.getElementById('card-command').textContent").replace("--archive URL", "--archive https://apt.example")
    assert command.startswith("ibeacon-gateway "), command
    subprocess.run(["sh", "-c", "'" + program + "'" + command.removeprefix("ibeacon-gateway") + " --password-file login --wifi-password-file wifi"],
                   check=True, cwd=path("cards"))
    for name, secret in (("user-data", "a login that is secret"), ("network-config", "a network that is secret")):
        shown = browser.evaluate(card % name)
        with open(path("cards/jane-s-attic/" + name)) as file:
            written = file.read()
        assert "that is secret" not in shown and secret in written
        shown = shown.replace("(the password that you are asked for)", secret).replace("URIs: URL", "URIs: https://apt.example")
        lines = [line for line in shown.splitlines() if line.strip() != "(the key in archive.asc)"]
        kept = [line for line in written.splitlines() if not (line.startswith("       ") and line.strip() in (".", "mDMEabc=") or "PGP PUBLIC KEY BLOCK" in line)]
        assert lines == kept, f"the page shows another {name} than the command writes"
    page.hold("the command that is shown writes what is shown, but for the secrets")
    browser.view(390, 844)
    fits("the dialog for a gateway fits a phone")
    check("nothing of it is cut off", "(d => d.scrollWidth <= d.clientWidth)(document.getElementById('card-dialog'))")
    browser.view(1100)
    browser.evaluate("document.querySelector('#card-dialog .buttons button').click()")
    check("the dialog for a gateway closes", "!document.querySelector('dialog[open]')")

    # Hostile names.
    script = "<script>document.title='owned'</script><img src=x onerror=document.title='owned'>"
    publish("ibeacon-rooms/home/gateway/g3", {"v": 1, "room": script[:120], "version": "x" * 8000}, "-r")
    check("a script that came over MQTT is text",
          "document.body.innerText.includes('<script>document.title') && !document.title.includes('owned')")
    browser.view(390, 844)
    fits("hostile names fit a phone")
    browser.view(320)
    fits("it fits the narrowest phone")
    browser.view(1100)
    browser.evaluate((tag % "Car keys") + ".querySelector('.remove').click()")
    browser.evaluate("document.querySelector('#confirm-dialog .danger').click()")
    check("a removed tag is gone", "!" + (tag % "Car keys"))

    # Trouble.
    house.silent.add(2)
    check("a gateway that falls silent is named", "document.getElementById('findings').innerText.includes('g2')")
    check("every control has a name", "[...document.querySelectorAll('button,input,select,summary,a')].every(e => (e.getAttribute('aria-label') || e.innerText || e.labels?.[0]?.textContent || '').trim() || e.closest('dialog:not([open])'))")
    metrics = subprocess.run(["curl", "-sf", url + "metrics"], check=True, capture_output=True).stdout
    assert b'ibeacon_rooms_room_tags{id="kitchen",room="Kitchen"} 1\n' in metrics, metrics
    if shutil.which("promtool"):
        subprocess.run(["promtool", "check", "metrics"], input=metrics, check=True)
    broker.stop()
    check("a broker that goes is told", "document.getElementById('findings').innerText.includes('127.0.0.1:')")
    running[0].terminate()
    check("a service that stops is seen", "document.getElementById('live').textContent !== 'live'")
    # The browser itself logs the question for the token, what was refused, and the connection that ends with the service.
    page.end(url, "401", "422", "net::ERR_")
except AssertionError:
    browser.screenshot(os.path.join(images, "rooms-page-failed.png"))
    with open(path("log")) as file:
        sys.stderr.write(file.read()[-3000:])
    raise
finally:
    if house:
        house.end()
    for process in running[::-1]:
        if process.poll() is None:
            process.terminate()
        process.wait(10)
    broker.stop()
    page.close()
