# A house: three gateways, each with an adapter of its own, and the rooms service on a real broker. Each hears the tag with a level
# of its own, and the room follows the tag: by level, by which of them hears it at all, and through an adapter that goes and comes.
# kernels: uml
# long
# not quick: half a minute of a processor
. "$BENCH/guest/lib.sh"

rooms="kitchen hall study"
number_of() { case $1 in kitchen) echo 1 ;; hall) echo 2 ;; study) echo 3 ;; esac; }
plug_in() { controller_on "$1" -a "00:AA:01:00:00:0$(number_of "$1")" && always "$1"; }
# Another beacon is always on the air: a radio that receives nothing at all says nothing about the tag.
always() { tell "$1" "beacon 2 C0:00:00:00:00:0B 250 10 -75 4 $UUID 1 8 -59"; }
# heard NAME DBM: from now on this gateway hears the tag, 10 Hz, with this level and a deviation of 4 dB
heard() { tell "$1" "beacon 1 C0:00:00:00:00:0A 100 10 $2 4 $UUID 1 7 -59"; }
# beside NAME: in this room the level is high, in the others low
beside() { for each in $rooms; do heard "$each" "$([ "$each" = "$1" ] && echo -55 || echo -80)"; done; }
start() { # NAME COMMAND...: the program with /run/NAME.json
    name=$1; shift
    "$GATEWAY" --config "/run/$name.json" --state-dir "/run/state-$name" "$@" >>"/out/$name" 2>&1 &
    echo $! >"/run/$name.gateway"
}
state() { grep '^ibeacon-rooms/home/tag/jane ' /out/messages | tail -n 1; }
is_in() { state | grep -q "\"room\":\"$1\""; }
is_away() { state | grep -q '"home":false'; }
# listens NAME yes|no: as the service says
listens() {
    case $2 in yes) value=true ;; no) value=false ;; esac
    grep "^ibeacon-rooms/home/health/$1 " /out/messages | tail -n 1 | grep -q "\"listening\":$value"
}
# visited: the rooms of all enters so far, in order
visited() { sed -n 's/^owntracks\/test\/jane\/event .*"desc":"\([a-z]*\)".*"event":"enter".*/\1/p' /out/messages | tr '\n' ' '; }

broker_on
printf '{_type: "configuration", host: "127.0.0.1", username: "test", rooms: {http: null, tags: ["Jane:%s:1:7"]}}' \
    "$UUID" >/run/rooms.json
start rooms rooms run
for room in $rooms; do
    plug_in "$room"
    printf '{_type: "configuration", host: "127.0.0.1", username: "test", deviceId: "%s", scanner: "mgmt", adapter: "%s", http: null}' \
        "$room" "00:AA:01:00:00:0$(number_of "$room")" >"/run/$room.json"
    start "$room" run
done
for room in $rooms; do within 60 "the service hears the gateway of the $room" listens "$room" yes; done

beside kitchen
within 30 "the tag is in the kitchen" is_in kitchen
for room in hall study kitchen; do
    sleep 30
    beside "$room"
    within 30 "the tag goes to the $room" is_in "$room"
done
sleep 60
expect "it went through the rooms and changed no more: $(visited)" [ "$(visited)" = "kitchen hall study kitchen " ]

for room in $rooms; do tell "$room" "stop 1"; done
within 60 "the tag leaves the house" is_away
heard study -75
within 60 "heard by the study alone, it comes back to the study" is_in study
sleep 30
controller_off study
within 40 "the service knows that the study does not listen" listens study no
sleep 40
expect "a gateway without adapter is no reason to leave its room" is_in study
plug_in study
heard study -75
within 60 "the study listens again" listens study yes
sleep 30
expect "and the tag is still there" is_in study
beside hall
within 30 "the tag goes to the hall" is_in hall
sleep 10
expect "the rooms came one after the other: $(visited)" [ "$(visited)" = "kitchen hall study kitchen study hall " ]
for name in $rooms rooms; do
    kill "$(cat "/run/$name.gateway")"
    wait "$(cat "/run/$name.gateway")"
    expect "$name ends cleanly" [ $? = 0 ]
done
