"""Home Assistant's Bluetooth scanners as receivers of a site."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import lru_cache
import logging
import secrets
import time
from typing import Any

from bluetooth_data_tools import get_cipher_for_irk, resolve_private_address

from homeassistant.components import bluetooth, mqtt
from homeassistant.components.bluetooth.match import BluetoothCallbackMatcher
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import area_registry as ar, device_registry as dr, issue_registry as ir
from homeassistant.helpers.event import async_track_time_interval
from homeassistant.loader import async_get_integration

from . import protocol

LOG = logging.getLogger(__name__)
DOMAIN = "ibeacon_rooms"
MOST_STRANGERS = 4096
ECHO, AGAIN = 10, 60  # seconds: a card that the broker takes comes back within ECHO; else it is published again after AGAIN


async def clear(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Empties the cards that the broker retains."""
    if not (mqtt.mqtt_config_entry_enabled(hass) and mqtt.is_connected(hass)):
        LOG.warning("the broker is not connected, and keeps the cards of %s", ", ".join(entry.data["receivers"]))
        return
    for receiver in entry.data["receivers"]:
        await mqtt.async_publish(hass, f"ibeacon-rooms/{entry.data['site']}/gateway/{receiver}", b"", 1, retain=True)


class Receivers:
    """Follows the addresses of a site's tags, and publishes each second what each scanner heard of them."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        self.hass, self.entry, self.site = hass, entry, entry.data["site"]
        self.seal = protocol.Seal(entry.data["key"])
        self.boot, self.since, self.ticked = secrets.token_hex(8), int(time.time()), time.monotonic()
        self.tags: set[str] | None = None
        self.lists: dict[str, dict[str, tuple[bytes, ...]]] = {}
        self.ciphers: dict[str, list[Any]] = {}
        self.feeds: dict[str, protocol.Feed] = {}
        self.cards: dict[str, bytes] = {}
        self.missing: dict[str, float] = {}  # receivers whose card has not come back, and since when
        self.tried = self.ticked
        self.followed: dict[str, tuple[str | None, Callable[[], None], Callable[[], None]]] = {}
        self.identify = lru_cache(MOST_STRANGERS)(self._identify)
        self.stops: list[Callable[[], None]] = []

    async def start(self) -> None:
        """Begins to listen."""
        self.version = str((await async_get_integration(self.hass, DOMAIN)).version)
        self.stops += [
            bluetooth.async_register_callback(
                self.hass, self._seen, BluetoothCallbackMatcher(connectable=False), bluetooth.BluetoothScanningMode.PASSIVE),
            # The broker may have lost the cards, and says after each connection whether there is a list.
            mqtt.async_subscribe_connection_status(self.hass, callback(lambda _: self._search(None))),
            *[await mqtt.async_subscribe(self.hass, f"ibeacon-rooms/{self.site}/{topic}", taken, 1, None) for topic, taken in (
                ("tags", self._tags), ("phones/+", self._phones), ("gateway/+", self._card))],
            async_track_time_interval(self.hass, self._tick, timedelta(seconds=1)),
        ]

    @callback
    def stop(self) -> None:
        """Leaves no callback and no issue."""
        for stop in self.stops:
            stop()
        for address in list(self.followed):
            self._lose(address)
        areas = (("no_area", receiver) for receiver in self.entry.data["receivers"])
        for name, of in (("unreadable", self.site), ("refused", self.site), *areas):
            self._issue(name, of, None)

    # What the site says

    @callback
    def _tags(self, message: mqtt.ReceiveMessage) -> None:
        try:
            tags = protocol.tags(self.seal.opened(message.payload)) if message.payload else None
        except ValueError as error:
            return self._issue("unreadable", self.site, {"reason": str(error)})
        self._issue("unreadable", self.site, None)
        self._search(tags)

    @callback
    def _card(self, message: mqtt.ReceiveMessage) -> None:
        receiver = message.topic.rpartition("/")[2]
        if self.missing.pop(receiver, None) is None and not message.payload:
            # Somebody removed a card. A scanner that is still there publishes it again.
            self.cards.pop(receiver, None)

    @callback
    def _phones(self, message: mqtt.ReceiveMessage) -> None:
        gateway = message.topic.rpartition("/")[2]
        self.lists.pop(gateway, None)
        # Keys of phones are never plain. `rooms status` names a gateway with another key.
        with suppress(ValueError):
            self.lists[gateway] = protocol.phones(self.seal.opened(message.payload), gateway) if self.seal.box else {}
        self._search(self.tags)

    @callback
    def _search(self, tags: set[str] | None) -> None:
        """Other tags or keys: follows again the addresses that Home Assistant knows. A list after none needs the cards."""
        self.tags = tags
        if tags is None:
            self.cards, self.missing = {}, {}
        keys = {beacon: found for phones in self.lists.values() for beacon, found in phones.items()}
        self.ciphers = {
            beacon: [get_cipher_for_irk(key) for key in keys[beacon]] for beacon in (self.tags or set()) & keys.keys()}
        for address in list(self.followed):
            self._lose(address)
        self.identify.cache_clear()
        for info in bluetooth.async_discovered_service_info(self.hass, False):
            self._seen(info, bluetooth.BluetoothChange.ADVERTISEMENT)

    # What the scanners hear

    @callback
    def _seen(self, info: bluetooth.BluetoothServiceInfoBleak, change: bluetooth.BluetoothChange) -> None:
        """A device is new, or sends something else than before."""
        address, named = info.address, None
        if not self.tags or address in self.followed:
            return
        found = protocol.ibeacon(info.manufacturer_data.get(76, b""))
        if not (found and found[0] in self.tags) and not (named := self.identify(address)):
            return
        self.followed[address] = (
            named, bluetooth.async_register_advertisement_callback(self.hass, self._heard, address),
            bluetooth.async_track_unavailable(self.hass, lambda gone: self._lose(gone.address), address, False))

    def _identify(self, address: str) -> str | None:
        """The phone or the fixed address among the tags."""
        if (named := protocol.identity(f"mac:{address.upper()}")) in self.tags:
            return named
        for named, ciphers in self.ciphers.items():
            if any(resolve_private_address(cipher, address) for cipher in ciphers):
                return named
        return None

    @callback
    def _lose(self, address: str) -> None:
        _, *stops = self.followed.pop(address, (None,))
        for stop in stops:
            stop()

    @callback
    def _heard(self, info: bluetooth.BluetoothServiceInfoBleak) -> None:
        """Each packet of a followed address, at each scanner."""
        named, power = self.followed[info.address][0], protocol.ASSUMED_POWER
        if named is None:
            content = info.manufacturer_data.get(76, b"") if info.raw is None else protocol.apple(info.raw)
            if not (found := protocol.ibeacon(content)) or found[0] not in self.tags:
                return
            named, power = found
        self._feed(info.source).add(named, power, info.rssi, info.time)

    def _feed(self, source: str) -> protocol.Feed:
        return self.feeds.get(source) or self.feeds.setdefault(source, protocol.Feed(self.boot, self.ticked))

    # What is published

    async def _tick(self, _: datetime) -> None:
        now = time.monotonic()
        seconds, self.ticked = now - self.ticked, now
        # A broker need not say that it refuses a message.
        self._issue("refused", self.site, {} if now - min(self.missing.values(), default=now) >= ECHO else None)
        if self.tags is None or not mqtt.is_connected(self.hass):
            for feed in self.feeds.values():
                feed.skip()
            return
        scanners = {scanner.source: scanner for scanner in bluetooth.async_current_scanners(self.hass)}
        # A scanner that is away has an entry and is no current one.
        entries = dict.fromkeys(scanners) | {
            entry.unique_id: entry
            for entry in self.hass.config_entries.async_entries("bluetooth", include_ignore=False, include_disabled=False)}
        await self._cards(entries, scanners)
        for source in entries:
            scanner = scanners.get(source)
            since = scanner.time_since_last_detection() if scanner else now
            for message in self._feed(source).messages(now, seconds, bool(scanner and scanner.scanning), since):
                await self._publish(f"heard/{protocol.receiver(source)}", message)

    async def _cards(self, entries: dict[str, ConfigEntry | None], scanners: dict[str, bluetooth.BaseHaScanner]) -> None:
        """Says where the scanners stand, as far as that is news, and empties the cards of those that are gone."""
        cards = dict.fromkeys(self.entry.data["receivers"], b"")
        for source, entry in entries.items():
            kind = entry.data.get("source_domain", "adapter") if entry else "scanner"
            cards[protocol.receiver(source)] = protocol.card(
                self._room(entry), self.version, f"Home Assistant {kind}", self.since, source, list(self.ciphers))
        self.feeds = {source: feed for source, feed in self.feeds.items() if source in entries}
        names = {protocol.receiver(source): scanners[source].name if source in scanners else source for source in entries}
        if self.missing and self.ticked - self.tried >= AGAIN:
            self.cards.clear()
        for receiver, card in sorted(cards.items() - self.cards.items()):
            self.cards[receiver] = card
            self.missing.setdefault(receiver, self.ticked)
            self.tried = self.ticked
            self._issue("no_area", receiver, {"scanner": names[receiver]} if card and b'"room"' not in card else None, "warning")
            await self._publish(f"gateway/{receiver}", card, retain=True)
        # One that is gone is known until the broker has removed its card.
        known = sorted(names.keys() | cards.keys() & self.missing.keys())
        if known != self.entry.data["receivers"]:
            self.hass.config_entries.async_update_entry(self.entry, data={**self.entry.data, "receivers": known})

    def _room(self, entry: ConfigEntry | None) -> str | None:
        """The name of a scanner's area: that of the device which has the radio, or else of the scanner itself."""
        registry = dr.async_get(self.hass)
        for scanner in dr.async_entries_for_config_entry(registry, entry.entry_id) if entry else ():
            for device in (scanner.via_device_id and registry.async_get(scanner.via_device_id), scanner):
                if device and device.area_id and (area := ar.async_get(self.hass).async_get_area(device.area_id)):
                    return area.name
        return None

    def _issue(self, name: str, of: str, wrong: dict[str, str] | None, severity: str = "error") -> None:
        """Names in the repairs of Home Assistant what is wrong; None: it is right."""
        if wrong is None:
            return ir.async_delete_issue(self.hass, DOMAIN, f"{name}_{of}")
        return ir.async_create_issue(
            self.hass, DOMAIN, f"{name}_{of}", is_fixable=False, severity=ir.IssueSeverity(severity), translation_key=name,
            translation_placeholders={"site": self.site} | wrong)

    async def _publish(self, topic: str, payload: bytes, retain: bool = False) -> None:
        await mqtt.async_publish(self.hass, f"ibeacon-rooms/{self.site}/{topic}", self.seal.sealed(payload), int(retain), retain)
