#!/usr/bin/env python3
"""The page of the service itself in a real browser. usage: service.py GATEWAY

The service plays a recording; regions are made on the page and by MQTT, with hostile names among them.
"""
import json, os, subprocess, sys
here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, "../Fixtures")]
import recording
from house import Broker, free_port, wait_for
from page import Page

program = os.path.abspath(sys.argv[1])
page = Page("gateway-page", 8)
browser, path, check, fits = page.browser, page.path, page.check, page.fits


def ask(*words):
    return subprocess.run([program, "--config", path("config.json"), "--state-dir", path("state"), *words], check=True,
                          capture_output=True, text=True).stdout


def set_waypoint(waypoint):
    command = {"_type": "cmd", "action": "setWaypoints", "waypoints": {"_type": "waypoints", "waypoints": [waypoint]}}
    broker.publish("owntracks/home/hall/cmd", command)


broker, http = Broker(page.folder), free_port()
url = f"http://127.0.0.1:{http}/"
with open(path("config.json"), "w") as file:
    json.dump({"_type": "configuration", "host": "127.0.0.1", "port": broker.port, "username": "home", "deviceId": "hall",
               "http": {"listen": f"127.0.0.1:{http}"}, "leaveAfter": 3, "remoteConfiguration": True,
               "trackers": [{"deviceId": "keys", "tid": "k"}], "scanner": {"capture": path("page.btsnoop")},
               "waypoints": [recording.waypoint("b4b412", "Kitchen", 1)]}, file)
# A beacon enters the kitchen at 12 s and leaves at 20 s. Its battery has 2.44 V, which is 6 %. Three other beacons stay.
recording.write(path("page.btsnoop"), recording.visit(1, 12, 20) + recording.telemetry(1, 12, 20, 2440) +
                recording.visit(5, 0, 3600) + recording.visit(6, 0, 3600) + recording.visit(7, 0, 3600))
room = "[...document.querySelectorAll('.room')].find(r => r.innerText.includes('%s'))"
service = None
try:
    broker.start()
    with open(path("log"), "w") as out:
        service = subprocess.Popen(
            [program, "--config", path("config.json"), "--state-dir", path("state"), "--verbose", "run"], stderr=out)
    wait_for("curl", "-sf", "-o", "/dev/null", url)
    browser.view(1100)
    browser.open(url)
    check("the page is live", "document.getElementById('live')?.textContent === 'live'")
    check("beacons have plots", "document.querySelectorAll('#beacons .plot .line').length === 3")
    check("the room is empty", room % "Kitchen" + " && !" + (room % "Kitchen") + ".classList.contains('in')")
    check("an enter shows", (room % "Kitchen") + ".classList.contains('in')", 20)
    check("it is in the time line", "document.querySelector('#timeline li.enter')?.innerText.includes('Kitchen')")
    check("it says why", (room % "Kitchen") + ".textContent.includes('it leaves in')")
    check("its battery is shown", (room % "Kitchen") + ".innerText.includes('battery low:\u00a06\u00a0%')")
    check("a low battery is a finding", "!document.getElementById('health').hidden && "
          "document.getElementById('findings').innerText.includes('low batteries: Kitchen 6 % (2.44 V)')")
    check("and a tile", "[...document.querySelectorAll('#state .bad')].some(t => t.innerText.includes('Batteries') && t.innerText.includes('1 low'))")

    # A link of `status --link` is a session for this browser, and for no second one.
    def settings():
        browser.evaluate("document.getElementById('settings-open').click()")
        check("the settings open", "document.getElementById('settings-dialog').open && document.getElementById('set-leaveAfter').value === '3'")

    link = ask("status", "--link", "--quiet").strip()
    assert link.startswith(url + "#link=") and len(link) == len(url) + 6 + 32, link
    browser.open("about:blank")
    browser.open(link)
    check("a link opens the page, and its token leaves the address", "document.getElementById('live')?.textContent === 'live' && location.hash === ''")
    settings()
    browser.evaluate("document.getElementById('set-lat').value = '48.2', document.getElementById('set-lon').value = '16.37'")
    browser.evaluate("document.querySelectorAll('#set-names input')[1].value = \"Anna's keys\"")
    browser.evaluate("document.getElementById('settings-save').click()")
    check("settings are saved without a question for the token", "!document.getElementById('settings-dialog').open && !document.getElementById('token-dialog').open")
    check("the name shows", "document.getElementById('trackers').innerText.includes(\"Anna's keys\")")
    shown = json.loads(subprocess.run(["curl", "-sf", url + "settings.json"], capture_output=True, check=True).stdout)
    assert shown["settings"]["lat"] == 48.2 and shown["settings"]["names"] == [None, "Anna's keys"], shown
    settings()
    browser.evaluate("document.getElementById('set-leaveAfter').value = '1e9'")
    browser.evaluate("document.getElementById('settings-form').noValidate = true; document.getElementById('settings-save').click()")
    check("a wrong setting is refused with the reason", "document.getElementById('settings-error').innerText.includes('leaveAfter')")
    browser.evaluate("document.querySelector('#settings-dialog [data-close]').click()")
    browser.call("Network.clearBrowserCookies")
    browser.open("about:blank")
    browser.open(link)
    check("a link that was used asks for the token, and says why",
          "document.getElementById('token-dialog')?.open && document.getElementById('token-error').innerText.includes('used before')")
    browser.evaluate("document.querySelector('#token-dialog [data-close]').click()")
    check("the page is live again", "document.getElementById('live')?.textContent === 'live' && document.querySelectorAll('#beacons tr').length > 0")

    browser.evaluate("[...document.querySelectorAll('#beacons tr')].find(l => l.querySelector('.minor').innerText === '5').querySelector('button').click()")
    browser.evaluate("document.getElementById('region-name').focus()")
    browser.type("Workshop")
    browser.key("Enter", 13, "\r")
    check("the token is asked for", "document.getElementById('token-dialog').open")
    browser.type(ask("status", "--token").strip())
    browser.key("Enter", 13, "\r")
    check("the region is made, and entered with the next packet", (room % "Workshop") + "?.classList.contains('in')")
    assert "Workshop" in ask("regions", "list"), "the command line sees it, too"
    check("a leave shows", "!" + (room % "Kitchen") + ".classList.contains('in')", 20)

    set_waypoint(recording.waypoint("h1", "<script>document.title='owned'</script><img src=x onerror=document.title='owned'>", 6))
    check("a script that came over MQTT is text",
          "document.body.innerText.includes('<script>document.title') && !document.title.includes('owned')")
    set_waypoint(recording.waypoint("h2", "x" * 10240, 7))
    browser.view(390, 844)
    check("10 kB of one word are cut", "[...document.querySelectorAll('.room bdi')].some(b => b.textContent.startsWith('xxxx') && b.textContent.length <= 201)")
    fits("and fit a phone")
    set_waypoint(recording.waypoint("h3", "\u202eegarag \u05de\u05d8\u05d1\u05d7", 6))
    set_waypoint(recording.waypoint("h4", "a\0b", 6))
    check("a right-to-left name stays in its box", "[...document.querySelectorAll('.room bdi')].some(b => b.textContent.includes('\u05de'))")
    check("NUL is shown as a mark", "[...document.querySelectorAll('.room bdi')].some(b => b.textContent === 'a\\ufffdb')")
    fits("hostile names fit a phone")

    browser.evaluate((room % "Workshop") + ".querySelector('.remove').click()")
    browser.evaluate("document.querySelector('#remove-dialog .danger').click()")
    check("a removed region is gone", "!" + (room % "Workshop"))
    broker.stop()
    check("a broker that goes is told, with what to do",
          "!document.getElementById('health').hidden && document.getElementById('findings').innerText.includes('doctor')")
    service.terminate()
    check("a service that stops is seen", "document.getElementById('live').textContent !== 'live'")
    # The browser itself logs the question for the token, the refused setting, and the connection that ends with the service.
    page.end(url, "401", "422", "net::ERR_")
except AssertionError:
    with open(path("log")) as file:
        sys.stderr.write(file.read()[-3000:])
    raise
finally:
    if service:
        if service.poll() is None:
            service.terminate()
        service.wait(10)
    broker.stop()
    page.close()
