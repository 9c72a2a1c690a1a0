"""What the tests of the pages share: a folder of their own, a browser, and checks that are counted."""
import os, shutil, tempfile
from browser import Browser


class Page:
    def __init__(self, name, limit):
        """`limit`: seconds within which what is checked must become true."""
        self.folder = tempfile.mkdtemp(prefix=f"ibeacon-{name}-")
        self.browser, self.limit, self.passed = Browser(), limit, 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def check(self, what, script, limit=None):
        self.browser.until(script, what, limit or self.limit)
        self.hold(what)

    def hold(self, what):
        self.passed += 1
        print("ok", what, flush=True)

    def fits(self, what):
        self.check(what, "document.documentElement.scrollWidth <= document.documentElement.clientWidth")

    def asked_nobody_else(self, url):
        foreign = [u for u in self.browser.requested() if not u.startswith(url) and not u.startswith("about:")]
        assert not foreign, f"the page asked elsewhere: {foreign}"

    def end(self, url, *meant):
        """Nothing was asked elsewhere, and the console complains of what is meant alone."""
        self.asked_nobody_else(url)
        complaints = [c for c in self.browser.complaints() if not any(text in c for text in meant)]
        assert not complaints, f"the console complains: {complaints}"
        print(f"all {self.passed} checks hold; no complaint in the console, no request elsewhere")

    def close(self):
        self.browser.close()
        shutil.rmtree(self.folder, ignore_errors=True)
