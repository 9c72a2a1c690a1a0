#!/usr/bin/python3
"""The picture of README: twelve seconds of the rooms page while a tag walks. usage: walk.py IMAGES

It watches the page of `Scripts/demo --rooms` from the begin of the walk to its end, and keeps the twelve seconds with the most changes of
the room. IMAGES is the folder for `rooms-walk.png`.
"""
import base64, io, os, re, subprocess, sys, time
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
from PIL import Image  # python3-pil of Debian
from browser import Browser
from house import wait_for

step, length, most = 0.5, 24, 300_000   # seconds of a frame, frames, bytes


def animation(pictures):
    """The bytes of an animated PNG of pictures of one size. Pillow keeps of each what differs from the one before."""
    first, *others = [Image.open(io.BytesIO(picture)).convert("RGB") for picture in pictures]
    out = io.BytesIO()
    first.save(out, "PNG", save_all=True, append_images=others, duration=[round(step * 1000)] * len(pictures), optimize=True)
    return out.getvalue()


demo = subprocess.Popen([os.path.join(here, "../../Scripts/demo"), "--rooms"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
browser = Browser()
try:
    url = next(found.group() for found in (re.search(r"http://127\.0\.0\.1:\d+/", line) for line in demo.stdout) if found)
    wait_for("curl", "-sf", "-o", "/dev/null", url)
    browser.view(760, 280)
    browser.open(url)
    browser.until("document.getElementById('live')?.textContent === 'live'", "the page is live", 60)
    where = "Object.values(state.tags).map(tag => tag.home ? tag.room : null)[0] || ''"
    browser.until(f"state.listening === state.gatewayCount && ({where})", "all gateways listen, and the tag is in a room", 90)
    frames, rooms, due = [], [], time.time()
    while len(frames) < 80 and demo.poll() is None:
        try:
            rooms.append(browser.evaluate(where))
            data = browser.call("Page.captureScreenshot", format="png")["data"]
        except RuntimeError:
            break
        frames.append(base64.b64decode(data))
        due += step
        time.sleep(max(0, due - time.time()))
    changes = [int(a != b) for a, b in zip(rooms, rooms[1:])] + [0]
    first = max(range(max(1, len(frames) - length + 1)), key=lambda at: (sum(changes[at + 2:at + length - 3]), -at))
    assert sum(changes[first:first + length]) >= 1, f"the tag did not walk: {rooms}"
    picture = animation(frames[first:first + length])
    assert len(picture) < most, f"the picture has {len(picture)} bytes"
    with open(os.path.join(sys.argv[1], "rooms-walk.png"), "wb") as file:
        file.write(picture)
    print(f"the tag walks through {sum(changes[first:first + length]) + 1} rooms in {len(picture) / 1000:.0f} kB")
finally:
    browser.close()
    demo.terminate()
    demo.wait(30)
