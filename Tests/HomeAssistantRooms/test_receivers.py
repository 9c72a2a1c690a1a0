"""When the integration publishes the cards and readings of scanners (custom_components/ibeacon_rooms/receivers.py), without Home Assistant.

Of Home Assistant there is only what the integration calls. Tests/HomeAssistantRooms/test runs it in a real one.

Needs: python3.
"""
import asyncio
import json
import pathlib
import sys
import types
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "custom_components"))
sys.dont_write_bytecode = True

SOURCE, RECEIVER = "B8:27:EB:00:22:01", "ha-b827eb002201"
CARD, HEARD = f"ibeacon-rooms/home/gateway/{RECEIVER}", f"ibeacon-rooms/home/heard/{RECEIVER}"
LIST = (TOP / "Tests/Fixtures/site/tags.json").read_bytes()


class Anything(types.ModuleType):
    """A module that has each name: a class, which is also called as a function that returns nothing."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__class_getitem__": classmethod(lambda cls, _: cls), "__new__": lambda cls, *_, **__: None})


class Broker:
    """What of the MQTT integration is used, and the broker behind it."""

    def __init__(self):
        self.published, self.connected, self.subscribed, self.watcher, self.refuses = [], True, {}, None, False

    async def async_subscribe(self, _hass, topic, taken, _qos, _encoding):
        self.subscribed[topic] = taken

    def async_subscribe_connection_status(self, _hass, watcher):
        self.watcher = watcher

    def is_connected(self, _hass):
        return self.connected

    async def async_publish(self, _hass, topic, payload, _qos, retain):
        self.published.append((topic, payload))
        # A message also comes to the one that published it.
        if retain and not self.refuses:
            self.send(topic, payload)

    def send(self, topic, payload):
        for pattern, taken in self.subscribed.items():
            if pattern == topic or pattern.endswith("/+") and pattern[:-2] == topic.rpartition("/")[0]:
                taken(types.SimpleNamespace(topic=topic, payload=payload))

    def connect(self, connected):
        self.connected = connected
        self.watcher(connected)


class Issues:
    """The repairs that Home Assistant shows, with what they say."""

    IssueSeverity = str

    def __init__(self):
        self.shown = {}

    def async_create_issue(self, _hass, _domain, issue, *, translation_placeholders, **_):
        self.shown[issue] = translation_placeholders

    def async_delete_issue(self, _hass, _domain, issue):
        self.shown.pop(issue, None)


class Scanner:
    source, name, scanning = SOURCE, "Kitchen proxy", True

    @staticmethod
    def time_since_last_detection():
        return 0.1


def module(name, **members):
    sys.modules[name] = found = Anything(name)
    vars(found).update(members)
    parent, _, own = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], own, found)
    return found


def receivers():
    """The integration's part, which is loaded with what stands for Home Assistant."""
    for name in ("nacl", "nacl.secret", "bluetooth_data_tools", "homeassistant", "homeassistant.components", "homeassistant.helpers",
                 "homeassistant.helpers.area_registry", "homeassistant.helpers.event",
                 "homeassistant.config_entries", "homeassistant.exceptions", "homeassistant.components.bluetooth.match",
                 "homeassistant.components.mqtt"):
        module(name)
    module("homeassistant.core", callback=lambda function: function)

    async def integration(_hass, _domain):
        return types.SimpleNamespace(version="1.0.0")

    module("homeassistant.loader", async_get_integration=integration)
    module("homeassistant.helpers.device_registry", async_entries_for_config_entry=lambda *_: ())
    module("homeassistant.helpers.issue_registry")
    module("homeassistant.components.bluetooth", async_discovered_service_info=lambda *_: [],
           BluetoothScanningMode=types.SimpleNamespace(PASSIVE=1), BluetoothChange=types.SimpleNamespace(ADVERTISEMENT=1))
    from ibeacon_rooms import receivers as found  # noqa: PLC0415

    return found


class Cards(unittest.TestCase):
    code = receivers()

    def setUp(self):
        self.broker = self.code.mqtt = Broker()
        self.issues = self.code.ir = Issues()
        self.scanners = [Scanner]
        self.code.bluetooth.async_current_scanners = lambda _hass: self.scanners
        self.clock = 100.0
        self.code.time = types.SimpleNamespace(monotonic=lambda: self.clock, time=lambda: 1_700_000_000 + self.clock)
        entry = types.SimpleNamespace(data={"site": "home", "key": "", "receivers": []})
        entries = types.SimpleNamespace(
            async_entries=lambda *_, **__: [], async_update_entry=lambda entry, data: setattr(entry, "data", data))
        self.entry = entry
        self.receivers = self.code.Receivers(types.SimpleNamespace(config_entries=entries), entry)
        asyncio.run(self.receivers.start())

    def live(self, seconds=1):
        """What is published in these seconds."""
        self.broker.published = []
        for _ in range(seconds):
            self.clock += 1
            asyncio.run(self.receivers._tick(None))
        return self.broker.published

    def clear(self):
        """`rooms clear`."""
        self.broker.send("ibeacon-rooms/home/tags", b"")
        self.broker.send(CARD, b"")

    def test_a_list_of_tags_makes_a_scanner_a_receiver_and_its_card_is_published_once(self):
        self.assertEqual(self.live(30), [])
        self.broker.send("ibeacon-rooms/home/tags", LIST)
        published = self.live(60)
        self.assertEqual([json.loads(payload)["source"] for topic, payload in published if topic == CARD], [SOURCE])
        self.assertGreater([topic for topic, _ in published].count(HEARD), 3)

    def test_the_next_list_after_none_needs_the_cards_again(self):
        self.broker.send("ibeacon-rooms/home/tags", LIST)
        self.live()
        self.clear()
        self.assertEqual(self.live(30), [])
        self.broker.send("ibeacon-rooms/home/tags", LIST)
        self.assertEqual([topic for topic, _ in self.live()][:1], [CARD])

    def test_the_next_list_needs_the_cards_also_where_their_removal_is_not_seen(self):
        self.broker.send("ibeacon-rooms/home/tags", LIST)
        self.live()
        del self.broker.subscribed["ibeacon-rooms/home/gateway/+"]
        self.broker.send("ibeacon-rooms/home/tags", b"")
        self.broker.send("ibeacon-rooms/home/tags", LIST)
        self.assertEqual([topic for topic, _ in self.live()][:1], [CARD])

    def test_a_list_that_went_away_while_there_was_no_connection_is_noticed(self):
        self.broker.send("ibeacon-rooms/home/tags", LIST)
        self.live()
        self.broker.connect(False)
        self.assertEqual(self.live(30), [])
        self.broker.connect(True)
        self.assertEqual(self.live(60), [])

    def test_after_a_connection_the_list_that_the_broker_has_needs_the_cards_again(self):
        self.broker.send("ibeacon-rooms/home/tags", LIST)
        self.live()
        self.broker.connect(False)
        self.live(5)
        self.broker.connect(True)
        self.broker.send("ibeacon-rooms/home/tags", LIST)
        self.assertEqual([topic for topic, _ in self.live()][:1], [CARD])

    def test_a_scanner_that_is_there_publishes_a_removed_card_again(self):
        self.broker.send("ibeacon-rooms/home/tags", LIST)
        self.live(5)
        self.broker.send(CARD, b"")
        self.assertEqual([topic for topic, _ in self.live(20) if topic == CARD], [CARD])

    def test_a_scanner_that_is_gone_removes_its_card_once(self):
        self.broker.send("ibeacon-rooms/home/tags", LIST)
        self.live()
        self.scanners = []
        self.assertEqual(self.live(20), [(CARD, b"")])

    def live_refused(self, seconds):
        """The broker takes no cards from the beginning on."""
        self.broker.refuses = True
        self.broker.send("ibeacon-rooms/home/tags", LIST)
        return self.live(seconds)

    def test_a_broker_that_does_not_take_the_cards_is_named_until_it_does(self):
        self.live_refused(9)
        self.assertNotIn("refused_home", self.issues.shown)
        published = self.live(300)
        self.assertEqual(self.issues.shown["refused_home"], {"site": "home"})
        self.assertIn([topic for topic, _ in published].count(CARD), (4, 5))
        self.broker.refuses = False
        self.live(70)
        self.assertNotIn("refused_home", self.issues.shown)

    def test_without_a_connection_nothing_is_said_of_what_the_broker_takes(self):
        self.live_refused(5)
        self.broker.connect(False)
        self.live(60)
        self.broker.refuses = False
        self.broker.connect(True)
        self.broker.send("ibeacon-rooms/home/tags", LIST)
        self.live(60)
        self.assertNotIn("refused_home", self.issues.shown)

    def test_after_the_list_of_tags_was_removed_nothing_is_said_of_what_the_broker_takes(self):
        self.live_refused(30)
        self.assertIn("refused_home", self.issues.shown)
        self.clear()
        self.live(5)
        self.assertNotIn("refused_home", self.issues.shown)

    def test_the_end_of_the_integration_leaves_no_issue(self):
        self.live_refused(30)
        self.receivers.stops = []
        self.receivers.stop()
        self.assertEqual(self.issues.shown, {})

    def test_a_card_that_could_not_be_removed_is_known_until_it_is(self):
        self.broker.send("ibeacon-rooms/home/tags", LIST)
        self.live()
        self.scanners, self.broker.refuses = [], True
        self.live(30)
        self.assertEqual(self.entry.data["receivers"], [RECEIVER])
        self.broker.refuses = False
        self.assertEqual(self.live(120), [(CARD, b"")])
        self.assertEqual(self.entry.data["receivers"], [])
        self.assertEqual(self.issues.shown, {})


if __name__ == "__main__":
    unittest.main()
