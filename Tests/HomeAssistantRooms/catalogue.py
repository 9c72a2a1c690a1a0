"""What Home Assistant's loader and its catalogue (Marketplace, from 2026.11 on) say of the integration. Prints nothing if they take it.

usage: catalogue.py FOLDER     a folder with custom_components and hacs.json

Needs: Home Assistant's own Python. hassfest, the checker of Home Assistant's repository, is in no package, so it is not run.
"""
import collections
import json
import pathlib
import sys
import types

from homeassistant.components.marketplace.utils.validate import (
    INTEGRATION_MANIFEST_VALUES,
    REPOSITORY_MANIFEST_VALUES,
    VALID_DOMAIN,
)
from homeassistant.loader import Integration

top = pathlib.Path(sys.argv[1])
folder = top / "custom_components/ibeacon_rooms"
manifest = json.loads((folder / "manifest.json").read_text())
catalogue = json.loads((top / "hacs.json").read_text())
for name, value in manifest.items():
    if name in INTEGRATION_MANIFEST_VALUES:
        INTEGRATION_MANIFEST_VALUES[name](value)
for name, value in catalogue.items():
    REPOSITORY_MANIFEST_VALUES[name](value)
assert VALID_DOMAIN.match(manifest["domain"]), "the domain"
# What the loader looks at of a running Home Assistant.
home = types.SimpleNamespace(data=collections.defaultdict(list))
integration = Integration(home, "custom_components.ibeacon_rooms", folder, manifest, {path.name for path in folder.iterdir()})
assert integration.version and integration.version.valid, "the version"
assert integration.has_branding and integration.has_translations and integration.config_flow, "brand, translations or flow"
assert integration.requirements == ["PyNaCl"] and set(integration.dependencies) == {"bluetooth_adapters", "mqtt"}, "what it needs"
