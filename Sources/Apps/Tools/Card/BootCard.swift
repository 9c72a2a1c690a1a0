import Base
import JSON

/// The files for the boot partition of one machine, which cloud-init reads at the first boot.
struct BootCard {
    /// A file of the service, which only the service may read.
    struct File: Equatable {
        /// Its name in `directory`.
        let name: String
        let text: Secret
    }

    /// What stands on a card that others should not read, as a person is told.
    enum HeldSecret: String, CaseIterable {
        case login = "the login at the broker"
        case siteKey = "the site's key"
        case wiFi = "the Wi-Fi's password"
    }

    /// Where the configuration and its files are on the machine.
    static let directory = "/etc/ibeacon-gateway"

    /// The name of the gateway: its `deviceId`, and the folder of the card among others.
    let name: String
    let hostName: String
    /// Another one for each card of the same machine: cloud-init then sets it up anew.
    let instance: String
    let archive: CardArchive
    let files: [File]
    let timeZone: String?
    let user: CardUser?
    let wiFi: CardWiFi?

    /// The names and texts of the files.
    var contents: [(name: String, text: Secret)] {
        var contents = [("user-data", Secret(userData)), ("meta-data", Secret(metaData))]
        if let wiFi { contents.append(("network-config", Secret(wiFi.configuration.yaml))) }
        return contents
    }

    /// Which secrets this card holds.
    var secrets: Set<HeldSecret> {
        var secrets: Set<HeldSecret> = wiFi == nil ? [] : [.wiFi]
        if files.contains(where: { $0.name == "password" }) { secrets.insert(.login) }
        if files.contains(where: { $0.name == "site-key" }) { secrets.insert(.siteKey) }
        return secrets
    }

    private static let header = "#cloud-config\n# Made by: ibeacon-gateway card\n"
    /// What stands in the place of `network-config` when its password has been moved.
    private static let movedNetwork = "# The network of the card is in /etc/netplan.\nnetwork:\n  version: 2\n"

    private var metaData: String {
        let members: CloudText = .map([
            ("dsmode", .text("local")), ("instance-id", .text("\(hostName)-\(instance)")),
            ("local-hostname", .text(hostName)),
        ])
        return members.yaml
    }

    /// What the machine is, without secrets. It takes the place of `user-data` when the secrets have been moved.
    private var machine: [(name: String, value: CloudText)] {
        var members: [(String, CloudText)] = [("hostname", .text(hostName))]
        if let timeZone { members.append(("timezone", .text(timeZone))) }
        // Without the member there would be the user that the image has by default. Older programs refuse an empty list.
        members.append(("users", user.map { .list([$0.configuration]) } ?? .map([])))
        return members
    }

    private var movedUserData: String {
        Self.header + "# The secrets of this card are in /etc/ibeacon-gateway.\n" + CloudText.map(machine).yaml
    }

    private var userData: String {
        var written: [CloudText] = files.map { Self.write("\(Self.directory)/\($0.name)", $0.text.revealed, "0600") }
        written.append(Self.write("/etc/apt/sources.list.d/ibeacon-gateway.sources", archive.sources, "0644"))
        written.append(Self.write(FirstBoot.scriptPath, FirstBoot.script, "0755"))
        written.append(Self.write(FirstBoot.directory + "/user-data", movedUserData, "0644"))
        if wiFi != nil {
            written.append(Self.write(FirstBoot.directory + "/network-config", Self.movedNetwork, "0644"))
        }
        // The last one, because its presence starts the others.
        written.append(Self.write("/etc/systemd/system/\(FirstBoot.unit)", FirstBoot.service, "0644"))
        var commands = [
            ["systemctl", "daemon-reload"], ["systemctl", "--no-block", "enable", "--now", FirstBoot.unit],
        ]
        if user != nil { commands.append(["systemctl", "--no-block", "enable", "--now", "ssh.service"]) }
        let members: [(String, CloudText)] =
            machine + [
                ("write_files", .list(written)),
                ("bootcmd", .list([FirstBoot.answer, FirstBoot.begin].map(Self.words))),
                ("runcmd", .list(commands.map(Self.words))),
            ]
        let remark = "# It holds secrets: the first boot moves them to files that only the service may read.\n"
        return Self.header + remark + CloudText.map(members).yaml
    }

    private static func words(_ words: [String]) -> CloudText { .list(words.map { .text($0) }) }

    private static func write(_ path: String, _ content: String, _ mode: String) -> CloudText {
        .map([("path", .text(path)), ("permissions", .text(mode)), ("content", .text(content))])
    }
}
