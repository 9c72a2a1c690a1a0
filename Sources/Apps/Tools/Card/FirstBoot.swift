/// What a card runs on its machine: a script, and the service that runs it at each boot.
enum FirstBoot {
    static let unit = "ibeacon-gateway-card.service"
    /// Where the script and what belongs to it are.
    static let directory = "/usr/local/lib/ibeacon-gateway-card"
    static let scriptPath = directory + "/first-boot"

    static let service = """
        [Unit]
        Description=Installs the iBeacon gateway of a card, and writes onto the card what is missing

        [Service]
        Type=exec
        ExecStart=/bin/sh \(scriptPath)
        Restart=on-failure
        RestartSec=30

        [Install]
        WantedBy=multi-user.target

        """

    /// The words of the command of `bootcmd`. cloud-init runs it before it writes files and before there is a network, and waits for
    /// the network before it runs anything else: without this, a machine without network would say nothing for minutes.
    static let begin = [
        "systemd-run", "--quiet", "--no-block", "--collect", "--unit=ibeacon-gateway-card-begin", "/bin/sh", "-c",
        "n=0; until [ -e /etc/systemd/system/\(unit) ] || [ $n = 120 ]; do sleep 1; n=$((n + 1)); done; "
            + "systemctl daemon-reload; systemctl --no-block enable --now \(unit)",
    ]

    /// The words of another command of `bootcmd`. Raspberry Pi OS asks at the console for the name of a user until somebody answers, and
    /// the last stage of cloud-init, after which the secrets leave the card, waits for that. A card has answered: it names its user, or none.
    static let answer = [
        "sh", "-c",
        "! systemctl cat userconfig.service >/dev/null 2>&1 || systemctl --no-block mask --now userconfig.service",
    ]

    /// The script. `CARD_ROOT` is for tests: a folder that is taken for the root of the machine.
    static let script = #"""
        #!/bin/sh
        # From a card to a gateway: installs the package from the archive, gives the service the files of the card, takes the
        # secrets off the boot partition, and writes there and into the journal what is missing.
        # usage: first-boot [once]
        # Written by: ibeacon-gateway card
        set -u
        export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
        root=${CARD_ROOT:-}
        here=$root/usr/local/lib/ibeacon-gateway-card
        settings=$root/etc/ibeacon-gateway
        cloud=$root/var/lib/cloud/instance
        told=
        boot=
        for folder in /boot/firmware /boot; do
            [ ! -e "$root$folder/user-data" ] || { boot=$root$folder && break; }
        done

        # tell TEXT: into the journal and onto the boot partition, if it is not what was told last
        tell() {
            [ "$1" != "$told" ] || return 0
            told=$1
            printf '%s\n' "$1"
            [ -n "$boot" ] || return 0
            { printf 'ibeacon-gateway on %s, %s\n\n' "$(hostname)" "$(date -u '+%Y-%m-%d %H:%M UTC')" && printf '%s\n' "$1"; } \
                >"$boot/ibeacon-gateway.new" && mv -f "$boot/ibeacon-gateway.new" "$boot/ibeacon-gateway.txt" && sync
        }

        # status: that of the package in dpkg's words; nothing if dpkg does not know it
        status() { dpkg-query -W -f '${db:Status-Status}' ibeacon-gateway 2>/dev/null; }

        is_installed() { [ "$(status)" = installed ]; }

        # was_removed: whether a person has removed the package after this card had it installed. Another card is another instance of
        # cloud-init. In an upgrade the package has other words.
        was_removed() {
            [ -e "$cloud/ibeacon-gateway.installed" ] || return 1
            case $(status) in '' | config-files | not-installed) ;; *) return 1 ;; esac
        }

        # apt WORD...: waits neither for a server that does not answer nor for a person
        apt() {
            apt-get -q -y -o Acquire::Retries=0 -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10 \
                -o DPkg::Lock::Timeout=120 "$@" 2>&1
        }

        # install_package: sets `said`, what apt said
        install_package() {
            said=$(apt update)
            more=$(apt install ibeacon-gateway) && is_installed && return 0
            said="$said
        $more"
            return 1
        }

        has_way_out() { [ -n "$(ip -4 route show default 2>/dev/null; ip -6 route show default 2>/dev/null)" ]; }

        # explain: why the package is not installed
        explain() {
            archive=$(sed -n 's/^URIs: //p' "$root/etc/apt/sources.list.d/ibeacon-gateway.sources" 2>/dev/null)
            if ! has_way_out; then
                cat <<Y
        BAD  network  there is no network: no interface has a route to others
             -> plug in the cable; for Wi-Fi, check its name, its password and the country, and make the card again
        $(ip -brief address 2>/dev/null | grep -v '^lo ' | sed 's/^/     /')
        Y
                return
            fi
            case $said in
            *NO_PUBKEY* | *BADSIG* | *"Missing key"* | *"is not signed"* | *"no longer signed"* | *"signature verification"* | *EXPKEYSIG* | *REVKEYSIG* | *"verify signature"*)
                echo "BAD  archive  $archive is not signed with the key of this card"
                echo "     -> make the card again with the key of the archive: ibeacon-gateway card --archive-key FILE" ;;
            *"not valid yet"*)
                echo "BAD  clock    the clock of this machine is behind: $(date -u '+%Y-%m-%d %H:%M UTC')"
                echo "     -> wait until it is set from the network; where no time server is reached, set it" ;;
            *"Could not resolve"* | *"Temporary failure resolving"* | *"Could not connect"* | *"Unable to connect"* | *"Connection failed"* | *"Connection timed out"* | *"Failed to fetch"*)
                echo "BAD  archive  $archive cannot be reached"
                echo "     -> check that the network of this machine reaches it, and that this is its address" ;;
            *) echo "BAD  archive  the package cannot be installed from $archive" ;;
            esac
            printf '%s\n' "$said" | grep -E '^(E|Err|W):?' | tail -n 4 | sed 's/^/     /'
        }

        # give_files: the files of the card to the service, which is started again if it has not had them
        give_files() {
            news=
            for file in "$settings"/*; do
                case $(stat -c '%a %U' "$file" 2>/dev/null) in
                "600 ibeacon-gateway") ;;
                "600 "*) chown ibeacon-gateway:ibeacon-gateway "$file" && news=yes ;;
                esac
            done
            [ -z "$news" ] || systemctl restart ibeacon-gateway.service
        }

        # is_forgotten: whether the boot partition holds no secret any more. They are taken off it when cloud-init has read them: it reads
        # the card until the end of its last stage.
        is_forgotten() {
            [ -n "$boot" ] || return 0
            for file in user-data network-config; do
                [ -e "$here/$file" ] || continue
                ! cmp -s "$here/$file" "$boot/$file" || continue
                [ -e "$cloud/boot-finished" ] || return 1
                # The place of the old bytes is written over before it is given away. A card may keep a copy of its own.
                size=$(stat -c %s "$boot/$file") &&
                    dd if=/dev/zero of="$boot/$file" bs="$size" count=1 conv=notrunc,fsync 2>/dev/null
                cp "$here/$file" "$boot/$file" && sync || return 1
                echo "the secrets of $file are off the boot partition"
            done
        }

        attempt() {
            if was_removed; then
                code=0
                tell "The package ibeacon-gateway was removed from this machine, and is not installed again by the card.
        To install it: sudo apt-get install ibeacon-gateway"
            elif is_installed || install_package; then
                [ ! -d "$cloud" ] || touch "$cloud/ibeacon-gateway.installed"
                give_files
                found=$(ibeacon-gateway doctor 2>&1)
                code=$?
                tell "$found"
            else
                code=1
                tell "$(explain)"
            fi
            is_forgotten && [ $code = 0 ]
        }

        attempts=0
        until attempt; do
            [ "${1:-}" != once ] || exit 1
            attempts=$((attempts + 1))
            if [ $attempts -lt 40 ]; then sleep 15; else sleep 300; fi
        done

        """#
}
