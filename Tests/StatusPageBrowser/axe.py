"""What axe finds on a page: https://github.com/dequelabs/axe-core, as the package axe-playwright-python of PyPI ships it."""
import glob, os, subprocess, sys, zipfile


def script():
    """The text of axe, which is loaded once and kept in the cache of the user."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.path.join(cache, "ibeacon-gateway", "axe")
    if not glob.glob(os.path.join(folder, "*.whl")):
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check",
                        "--dest", folder, "axe-playwright-python==0.1.8"], check=True)
    with zipfile.ZipFile(glob.glob(os.path.join(folder, "*.whl"))[0]) as wheel:
        return wheel.read("axe_playwright_python/axe.min.js").decode()


class Axe:
    def __init__(self, browser):
        self.browser, self.script = browser, script()

    def serious(self):
        """The serious and critical violations of the page as it is shown now, with the first elements of each."""
        self.browser.evaluate("typeof axe === 'undefined' ? (() => {" + self.script + "\n})() : null, null")
        return self.browser.evaluate(
            "axe.run(document, { resultTypes: ['violations'] }).then(found => found.violations"
            ".filter(one => ['serious', 'critical'].includes(one.impact))"
            ".map(one => one.id + ': ' + one.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(' | ')))")
