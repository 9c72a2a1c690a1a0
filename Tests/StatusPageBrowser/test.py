#!/usr/bin/env python3
"""The status page in a real browser. usage: test.py DEMO [IMAGES]

DEMO is the program status-page-demo; IMAGES the folder for screenshots (default: none are kept).
"""
import os, signal, subprocess, sys, time
sys.path.insert(0, os.path.dirname(__file__))
from page import Page

demo = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
port = int(demo.stdout.readline())
page = Page("status-page", 8)
browser, check, fits = page.browser, page.check, page.fits
images = sys.argv[2] if len(sys.argv) > 2 else page.folder
url = f"http://127.0.0.1:{port}/"


def tell(line):
    demo.stdin.write(line if isinstance(line, bytes) else line.encode() + b"\n")
    demo.stdin.flush()


room = "[...document.querySelectorAll('.room')].find(r => r.innerText.includes('%s'))"
try:
    browser.view(1100)
    browser.open(url)
    check("the page is live", "document.getElementById('live')?.textContent === 'live'")
    check("beacons have plots", "document.querySelectorAll('#beacons .plot .line').length >= 5")
    began = time.time()
    tell("enter b4b412")
    check("an enter shows", (room % "Kitchen") + ".classList.contains('in')")
    late = time.time() - began
    assert late < 0.5, f"the enter took {late:.2f} s to show"
    check("the enter is in the time line", "document.querySelector('#timeline li.enter')?.innerText.includes('Kitchen')")
    check("the enter is spoken", "document.getElementById('announcer').textContent.includes('Kitchen entered')")
    tell("enter 67952e")
    check("each tracker has its own rooms", "document.querySelectorAll('.tracker').length === 2 && " + (room % "Front door") + ".classList.contains('in')")
    check("what is known is said in names", "[...document.querySelectorAll('.room')].some(r => /Anna's keys.*here since .*\\d:\\d\\d/s.test(r.innerText))"
          " && !document.getElementById('trackers').innerText.includes('owntracks/')")
    browser.evaluate((room % "Front door") + ".querySelector('summary').click()")
    check("the topic is under the details", "(" + room % "Front door" + ").innerText.includes('owntracks/home/anna')")
    browser.evaluate((room % "Kitchen") + ".querySelector('summary').click()")
    browser.evaluate((room % "Kitchen") + ".querySelector('.edit').focus()")
    tell("enter c00b92")
    check("an enter of another region leaves the focus where it is",
          (room % "Living room") + ".classList.contains('in') && document.activeElement.getAttribute('aria-label') === 'Change region Kitchen'")
    tell("leave b4b412")
    check("a leave shows", "!" + (room % "Kitchen") + ".classList.contains('in')")

    # Make a region with the keyboard alone.
    browser.evaluate("[...document.querySelectorAll('#beacons tr')].find(l => l.querySelector('.minor').innerText === '5').querySelector('button').focus()")
    check("focus survives the live redraws", "new Promise(r => setTimeout(() => r(document.activeElement.dataset.role === 'make'), 2500))")
    row = "document.activeElement.closest('tr')"
    browser.evaluate(f"getSelection().selectAllChildren({row}.querySelector('.mono')); shown = {row}.querySelector('.plot').outerHTML")
    check("a selected UUID survives them too, while the row changes",
          f"new Promise(r => setTimeout(() => r({row}.querySelector('.plot').outerHTML !== shown && getSelection().toString().length === 36), 2500))")
    browser.evaluate("getSelection().removeAllRanges()")
    browser.key("Enter", 13, "\r")
    check("the dialog opens", "document.getElementById('region-dialog').open")
    browser.evaluate("document.getElementById('region-name').focus()")
    browser.type("Workshop")
    browser.screenshot(os.path.join(images, "status-page-region.png"), full=False)
    browser.key("Enter", 13, "\r")
    check("the token is asked for", "document.getElementById('token-dialog').open")
    browser.type("not-the-token-000000")
    browser.key("Enter", 13, "\r")
    check("a wrong token is refused", "document.getElementById('token-error').textContent.includes('not the token')")
    browser.evaluate("document.getElementById('token').value = ''; document.getElementById('token').focus()")
    browser.type("demo-token-0123456789")
    browser.key("Enter", 13, "\r")
    check("the region is made", room % "Workshop")
    check("the dialogs are closed", "!document.querySelector('dialog[open]')")
    check("a beacon of a region cannot be made one again", "![...document.querySelectorAll('#beacons tr')].some(l => l.innerText.includes('Workshop') && l.querySelector('button'))")
    check("the beacon has its region", "[...document.querySelectorAll('#beacons tr')].some(l => l.innerText.includes('Workshop'))")
    check("scripts cannot read the token", "!document.cookie.includes('demo-token')")

    # From another machine the state itself needs the token.
    token = "document.getElementById('token-dialog').open"
    browser.evaluate("source = EventSource; request = fetch; EventSource = class { static CLOSED = 2; readyState = 2; close() {}"
                     " constructor() { setTimeout(() => this.onerror()); } };"
                     " fetch = (path, ...rest) => path === '/status.json' ? Promise.resolve({ status: 401 }) : request(path, ...rest);"
                     " stream.close(); connect(show)")
    check("a page that may not read the state asks for the token", token)
    browser.evaluate("document.querySelector('#token-dialog [data-close]').click()")
    check("without the token it says that it is not live", "document.getElementById('live').textContent.startsWith('no connection: reload')")
    browser.evaluate("askToken(null); EventSource = source; fetch = request; document.getElementById('token').focus()")
    browser.type("demo-token-0123456789")
    browser.key("Enter", 13, "\r")
    check("and what waited for the token is forgotten", "pending === null")
    browser.evaluate("requests = 0; fetch = () => { requests += 1; return new Promise(answer => setTimeout(answer, 100, { ok: true })); };"
                     " for (let click of [1, 2]) act('/regions', { name: 'Twice' }, { open: false }, null)")
    check("two clicks on one button are one request", "requests === 1 && underWay.size === 0")
    browser.evaluate("fetch = request")
    check("with the token it is live again", f"!{token} && document.getElementById('live').textContent === 'live'")

    browser.view(1100, 1000)
    time.sleep(1.2)
    browser.screenshot(os.path.join(images, "status-page.png"))
    browser.view(390, 844, dark=True, scale=2)
    time.sleep(1.2)
    fits("it fits a phone")
    browser.screenshot(os.path.join(images, "status-page-phone.png"))

    # Hostile names.
    tell("name b4b412 <script>document.title='owned'</script><img src=x onerror=document.title='owned'>")
    check("a script is text", "document.body.innerText.includes('<script>document.title') && !document.title.includes('owned')")
    tell("name c00b92 " + "x" * 10240)
    check("10 kB of one word are cut", "[...document.querySelectorAll('.room bdi')].some(b => b.textContent.startsWith('xxxx') && b.textContent.length <= 201)")
    fits("10 kB of one word still fit a phone")
    tell("name 05f7ac \u202eegarag \u05de\u05d8\u05d1\u05d7 \u0645\u0637\u0628\u062e")
    check("a right-to-left name stays in its box", "[...document.querySelectorAll('.room')].some(r => r.querySelector('bdi')?.textContent.includes('\u05de') && r.querySelector('.when').innerText)")
    tell(b"name 67952e a\0b\n")
    check("NUL is shown as a mark", "[...document.querySelectorAll('.room bdi')].some(b => b.textContent === 'a\\ufffdb')")
    fits("hostile names fit a phone")

    # Trouble and its cure.
    for line in ("name b4b412 Kitchen", "name c00b92 Living room", "name 05f7ac Garage", "name 67952e Front door", "trouble"):
        tell(line)
    check("trouble is shown with its cure", "!document.getElementById('health').hidden && document.getElementById('findings').innerText.includes('systemctl start mosquitto')")
    check("regions look old without a radio", "[...document.querySelectorAll('.room')].every(r => r.classList.contains('stale') && r.innerText.includes('as last known'))")
    browser.view(390, 844, scale=2)
    time.sleep(1.2)
    fits("trouble fits a phone")
    browser.evaluate("scrollTo(0, 0)")
    browser.screenshot(os.path.join(images, "status-page-trouble.png"), full=False)
    browser.view(320)
    fits("it fits the narrowest phone")

    # A user changes a region.
    browser.evaluate((room % "Workshop") + ".querySelector('.edit').click()")
    check("the form shows the region", "document.getElementById('edit-dialog').open && document.getElementById('edit-desc').value === 'Workshop' && document.getElementById('edit-minor').value === '5'")
    browser.evaluate("document.getElementById('edit-desc').value = 'Shed'")
    browser.evaluate("document.getElementById('edit-save').click()")
    check("the region has its new name", room % "Shed")
    check("the form is closed", "!document.getElementById('edit-dialog').open")
    browser.evaluate((room % "Shed") + ".querySelector('.edit').click()")
    check("the form opens again", "document.getElementById('edit-dialog').open && document.getElementById('edit-desc').value === 'Shed'")
    takes = "(e => { e.value = '%s'; return e.checkValidity(); })(document.getElementById('edit-leaveAfter'))"
    for value in ("auto", "90", "1.5"):
        check(f"'{value}' is a time to leave after", takes % value)
    for value in ("1.2.0", ".", "soon"):
        check(f"'{value}' is none", "!" + takes % value)
    browser.evaluate("document.getElementById('edit-leaveAfter').value = ''")
    browser.evaluate("document.getElementById('edit-desc').value = 'Workshop'")
    browser.evaluate("document.getElementById('edit-save').click()")
    check("the name can be changed back", room % "Workshop")

    # Phones, and the command that adds one.
    check("phones are listed", "[...document.querySelectorAll('#phones > div')].some(d => /Jane.*silent for/s.test(d.innerText)) && document.querySelectorAll('#phones .bad').length === 1")
    browser.evaluate("document.getElementById('phone-add').click()")
    check("a phone's dialog opens", "document.getElementById('phone-dialog').open")
    browser.evaluate("document.getElementById('phone-name').focus()")
    browser.type("Jane's")
    check("it shows the command, quoted", "document.getElementById('phone-command').textContent === \"sudo ibeacon-gateway phones add 'Jane'\\\\''s'\"")
    browser.evaluate("document.querySelector('#phone-dialog [data-close]').click()")

    # Another gateway.
    browser.evaluate("document.getElementById('add-gateway').click()")
    check("the card of another gateway is shown", "document.getElementById('card-command').textContent.includes(\"--room 'Kitchen'\")"
          " && document.querySelector('#card-files pre').textContent === 'hostname: Kitchen\\n'")
    browser.evaluate("document.getElementById('card-room').focus()")
    browser.type("Attic")
    check("it follows what is typed", "document.getElementById('card-command').textContent.includes(\"--room 'Attic'\")")
    browser.evaluate("document.querySelector('#card-dialog .buttons button').click()")

    # A user removes a region.
    browser.evaluate((room % "Workshop") + ".querySelector('.remove').click()")
    check("removal is asked", "document.getElementById('remove-dialog').open")
    browser.evaluate("document.querySelector('#remove-dialog .danger').click()")
    check("the region is gone", "!" + (room % "Workshop"))

    # Beacons that all have a region.
    check("no beacon without a region is not silence",
          "(() => { document.getElementById('only-unknown').checked = true;"
          " show({...state, beacons: state.beacons.filter(b => b.regions.length)});"
          " return document.getElementById('no-beacons').innerText === 'All beacons listed belong to a region.'; })()")
    browser.evaluate("document.getElementById('only-unknown').checked = false")

    # Two trackers with one region.
    for line in ("share 05f7ac", "enter 05f7ac"):
        tell(line)
    check("both enters are spoken", "['Garage entered', 'Anna\\'s keys entered Garage'].every(t => document.getElementById('announcer').textContent.includes(t))")
    said = "make('span', {}, ...sentence({ tracker: state.trackers[0].topic, event: 'enter', name: 'Home', beacon: %s })).textContent"
    check("a circle, which has no beacon, is entered by the gateway", said % "null" + " === called(state.trackers[0]) + ' entered Home'")
    check("a beacon of the gateway is named alone", said % "'a:1:1'" + " === 'Home entered'")
    check("the time line has one row for each", "new Promise(r => setTimeout(() => r(document.querySelectorAll('#timeline li').length === state.transitions.length), 3500))")

    # A link that is cut on its way ends without a word.
    demo.send_signal(signal.SIGSTOP)
    check("a link that is silent is no connection", "document.getElementById('live').textContent === 'no connection'", 20)
    demo.send_signal(signal.SIGCONT)
    check("the page is live again", "document.getElementById('live').textContent === 'live'", 20)

    # Every button has a name; nothing focusable is without one.
    check("every control has a name", "[...document.querySelectorAll('button,input,select,summary,a')].every(e => (e.getAttribute('aria-label') || e.innerText || e.labels?.[0]?.textContent || '').trim() || e.closest('dialog:not([open])'))")
    # The two refusals of the token are logged by the browser itself, and are meant.
    page.end(url, "401")
finally:
    page.close()
    demo.stdin.close()
    demo.wait(5)
