# A phone in a site of two gateways: one enrols it, the other gets the key under the site's key. Both report enter and leave while
# the phone's address rotates, and the key is nowhere but in the two files of keys. Removed at one, the phone is unknown to both.
# kernels: uml
# not quick: 20 enrols a phone whose address changes, and PhoneSiteRunTests shares its key between the programs of two gateways
. "$BENCH/guest/lib.sh"
. "$BENCH/guest/enrolment.sh"

gateways="kitchen hall"
at() { _name=$1; shift; "$GATEWAY" --config "/run/$_name.json" --state-dir "$(state_of "$_name")" "$@"; }
state_of() { case $1 in kitchen) echo /run/state ;; hall) echo /run/hall-state ;; esac; }
# told NAME enter|leave N: this gateway has published so many
told() { [ "$(grep "^owntracks/test/$1/event " /out/messages | grep -c "\"event\":\"$2\"")" = "$3" ]; }
both() { for each in $gateways; do "$1" "$each" "$2" "$3" || return 1; done; }
knows() { grep -q Jane "$(state_of "$1")/phone-keys" 2>/dev/null; }
on_the_air() { python3 "$BENCH/phone.py" advertise </run/advertise 2>/dev/null & ADVERTISER=$!; exec 3>/run/advertise; }
silent() { exec 3>&-; wait $ADVERTISER; }

btmon >/out/btmon 2>&1 &
hosts_on 3 private
broker_on
echo "correct horse battery staple" >/run/site-key
chmod 600 /run/site-key
page=8080
for name in $gateways; do
    [ "$name" = kitchen ] && adapter=hci0 || adapter=hci2
    printf '{_type: "configuration", host: "127.0.0.1", username: "test", deviceId: "%s", tid: "RM", scanner: "mgmt", adapter: "%s",
        leaveAfter: 15, http: {listen: "127.0.0.1:%s"}, rooms: {encryptionKeyFile: "/run/site-key"}}' \
        "$name" $adapter $page >"/run/$name.json"
    chmod 600 "/run/$name.json"
    page=$((page + 1))
    "$GATEWAY" --config "/run/$name.json" --state-dir "$(state_of "$name")" run >>"/out/$name" 2>&1 &
    echo $! >"/run/$name.pid"
    within 10 "the gateway of the $name listens" grep -q "listening: $adapter" "/out/$name"
done

enrol_on Jane
phone_pairs & PHONE=$!
enrol_ends
wait $PHONE
expect "the phone is enrolled in the kitchen" [ $ENROL_STATUS = 0 ]
nothing_is_left
within 30 "the hall has the key" knows hall
expect "in a file that only it can read" [ "$(stat -c %a /run/hall-state/phone-keys)" = 600 ]
within 30 "and the kitchen says so" sh -c "'$GATEWAY' --config /run/kitchen.json --state-dir /run/state phones list | grep -q 'Jane.*hall'"

phone_forgets
phone_is private
# The shortest time that the kernel allows.
echo 30 >/sys/kernel/debug/bluetooth/hci1/rpa_timeout
for name in $gateways; do
    expect "the $name has a region of it" at "$name" regions add "$(cat /out/description)"
    kill -HUP "$(cat "/run/$name.pid")"
done
mkfifo /run/advertise
on_the_air
within 30 "both gateways report that it entered" both told enter 1
for _ in $(seq 30); do phone_address; echo; sleep 10; done >/run/addresses
addresses=$(sort -u /run/addresses | grep -c .)
expect "its address changed each half minute, $addresses in five minutes" at_least "$addresses" 8
expect "and was that on the air" sh -c "sort -u /run/addresses | grep . | while read -r a; do grep -qi \"Address: \$a\" /out/btmon || exit 1; done"
expect "neither has reported a leave" both told leave 0
expect "nor entered it again" both told enter 1
silent
within 60 "both report that it left when it is silent" both told leave 1
on_the_air
within 30 "both report that it came again" both told enter 2

page=8080
for name in $gateways; do
    for words in "phones list --json" "regions export" "config show" "status --json" "history --json" "doctor --report"; do
        # shellcheck disable=SC2086 # words are wanted
        at "$name" $words >>"/out/$name-says" 2>&1
    done
    mosquitto_pub -t "owntracks/test/$name/cmd" -m '{"_type":"cmd","action":"dump"}'
    for path in "" status.json metrics "explain.json?region=Jane"; do
        busybox wget -qO- "http://127.0.0.1:$page/$path" >>"/out/$name-page"
    done
    within 10 "the $name dumps its configuration" grep -q "^owntracks/test/$name/dump " /out/messages
    expect "the page of the $name shows the phone" grep -q Jane "/out/$name-page"
    page=$((page + 1))
done
mosquitto_sub -v -t '#' --retained-only -W 2 >/out/retained
expect "the lists of keys are retained, sealed" [ "$(grep -c '^ibeacon-rooms/home/phones/' /out/retained)" = 2 ]
expect "no key is in what they said, published, or stored" keys_are_hidden

expect "the hall removes the phone" at hall phones remove Jane
within 30 "the kitchen has no key of it any more" sh -c '! grep -qiE "0F0E0D0C|00010203" /run/state/phone-keys'
within 60 "and both report that it left" both told leave 2
silent
for name in $gateways; do
    kill "$(cat "/run/$name.pid")"
    wait "$(cat "/run/$name.pid")"
    expect "the gateway of the $name ends cleanly" [ $? = 0 ]
done
