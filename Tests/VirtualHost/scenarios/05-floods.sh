# 2,000 reports a second from 200 addresses for 30 s: none lost, by mgmt beside bluetoothd and by hci alone.
# 3,000 a second: what is lost is counted.
# kernels: uml qemu
# time: real
# alone: it measures whether reading keeps up
# not quick: two minutes
. "$BENCH/guest/lib.sh"

# flood RATE SECONDS
flood() {
    tell first "flood $1 $2 200"
    sleep "$2"
    sleep 3
    # A busy build machine may be behind; what waits in the socket is not lost.
    within 60 "all that waits has been read" reads_nothing
}
reads_nothing() { tail -n 1 /out/probe | grep -q 'second reports=0'; }
check() {
    wait_for 10 sh -c "grep -q 'scan on' /out/first.log" || fail "no scan with $1"
    probe_on "$1"
    within 10 "$1 scans" probe_says 'listening hci0 on'
    before=$(stat_of first sent)
    flood 2000 30
    sent=$(($(stat_of first sent) - before))
    probe_off
    say "$1: sent $sent, received $(total reports), told lost $(total lost), cpu $(total cpu_ms) ms"
    expect "the bench sent 2,000 a second, not $sent in 30 s" at_least "$sent" 55000
    expect "$1 lost nothing of $sent, but received $(total reports)" [ "$(total reports)" = "$sent" ]
    probe_on "$1"
    within 10 "$1 scans" probe_says 'listening hci0 on'
    before=$(stat_of first sent)
    flood 3000 10
    sent=$(($(stat_of first sent) - before))
    probe_off
    missing=$((sent - $(total reports)))
    say "$1 at 3,000: sent $sent, received $(total reports), told lost $(total lost), cpu $(total cpu_ms) ms"
    expect "$1 accounts for $missing lost reports, not $(total lost)" [ "$missing" = "$(total lost)" ]
}

controller_on first
probe_on hci
within 10 "hci scans" probe_says 'listening hci0 on'
probe_off
check hci
bus_on
bluetoothd_on
check mgmt
