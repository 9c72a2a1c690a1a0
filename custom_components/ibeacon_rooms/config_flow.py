"""Asks for the site and its key. The broker is that of Home Assistant's MQTT integration."""

import asyncio
import re
from typing import Any

import voluptuous as vol

from homeassistant.components import bluetooth, mqtt
from homeassistant.config_entries import ConfigFlow, ConfigFlowResult
from homeassistant.helpers.selector import TextSelector, TextSelectorConfig, TextSelectorType

from .protocol import LONGEST_KEY, Seal, tags

DOMAIN = "ibeacon_rooms"
PATIENCE_SECONDS = 2  # for the list of tags, which the broker retains; a site may have none yet


class RoomsFlow(ConfigFlow, domain=DOMAIN):
    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        if not hasattr(bluetooth, "async_register_advertisement_callback"):
            return self.async_abort(reason="too_old")
        if not await mqtt.async_wait_for_mqtt_client(self.hass):
            return self.async_abort(reason="mqtt_missing")
        errors = {}
        if user_input:
            site, key = user_input["site"].strip(), user_input.get("key", "").strip()
            await self.async_set_unique_id(site)
            self._abort_if_unique_id_configured()
            if not (errors := await self._errors(site, key)):
                return self.async_create_entry(title=site, data={"site": site, "key": key, "receivers": []})
        schema = vol.Schema({
            vol.Required("site", default="home"): str,
            vol.Optional("key"): TextSelector(TextSelectorConfig(type=TextSelectorType.PASSWORD)),
        })
        return self.async_show_form(
            step_id="user", data_schema=self.add_suggested_values_to_schema(schema, user_input), errors=errors)

    async def _errors(self, site: str, key: str) -> dict[str, str]:
        """What is wrong, as far as the site's list of tags shows it."""
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,128}", site):
            return {"site": "site"}
        if len(key.encode()) > LONGEST_KEY:
            return {"key": "key_length"}
        lists: asyncio.Queue[bytes] = asyncio.Queue()
        stop = await mqtt.async_subscribe(
            self.hass, f"ibeacon-rooms/{site}/tags", lambda message: lists.put_nowait(message.payload), encoding=None)
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                tags(Seal(key).opened(await lists.get()))
        except TimeoutError:
            pass
        except ValueError:
            return {"key": "key_wrong" if key else "key_missing"}
        finally:
            stop()
        return {}
