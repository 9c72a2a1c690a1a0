# Makes ibeacon-gateway-rooms@.service, for several sites on one machine, of ibeacon-gateway-rooms.service: a site has a configuration, a
# state and a socket of its own, and its secrets in files that its configuration names.
s/^Description=.*/Description=iBeacon rooms service of the site %i (which room a tag is in, over MQTT)/
s|^ExecStart=/usr/bin/ibeacon-gateway |&--config /etc/ibeacon-gateway/%i.json |
s|^# Beside that of a gateway on the same machine.*|# Beside those of other sites and of a gateway on the same machine.|
s/^StateDirectory=.*/&@%i/
s/^RuntimeDirectory=.*/&@%i/
/^# Read if they are there, in/d
/^LoadCredential=/d
