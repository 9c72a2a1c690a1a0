"""Every Bluetooth scanner of Home Assistant as a receiver of a site of ibeacon-gateway."""

from homeassistant.components import mqtt
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ConfigEntryNotReady

from .receivers import Receivers, clear


async def async_setup_entry(hass: HomeAssistant, entry: ConfigEntry[Receivers]) -> bool:
    """Starts to publish what the scanners hear."""
    if not await mqtt.async_wait_for_mqtt_client(hass):
        raise ConfigEntryNotReady("the MQTT integration is not set up")
    entry.runtime_data = Receivers(hass, entry)
    await entry.runtime_data.start()
    return True


async def async_unload_entry(hass: HomeAssistant, entry: ConfigEntry[Receivers]) -> bool:
    """Ends it. What the broker retains stays for a reload: without its card a receiver would lose what was learned of it."""
    entry.runtime_data.stop()
    if entry.disabled_by:
        await clear(hass, entry)
    return True


async def async_remove_entry(hass: HomeAssistant, entry: ConfigEntry) -> None:
    await clear(hass, entry)
