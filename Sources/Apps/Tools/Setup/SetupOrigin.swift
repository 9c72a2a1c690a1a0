import Base
import JSON
import OwnTracks
import Regions
import System
import YAML

/// What the file of `--from` gives to the answers: a configuration of room-assistant, or the one that an app of OwnTracks exports.
struct SetupOrigin {
    /// Where the broker is.
    struct BrokerAddress: Equatable {
        var host: String
        var port: UInt16
        var usesTLS: Bool
    }

    var broker: BrokerAddress?
    var username: String?
    var password: Secret?
    var room: String?
    /// Members of the new configuration.
    var settings: [(name: String, value: JSONValue)] = []
    /// Descriptions of the tags, for the rooms service.
    var tags: [String] = []
    /// Descriptions of tags that are no iBeacons: a gateway listens for them only if it has a region.
    var addresses: [String] = []
    /// The regions of the app.
    var regions: [RegionChange] = []
    /// Where the home is.
    var coordinates: Coordinates?

    /// Reads the file of `--from`, and says what becomes of its members.
    ///
    /// - Returns: nil without the option.
    static func read(_ arguments: Arguments, _ dialogue: Dialogue) throws(Failure) -> SetupOrigin? {
        guard let path = arguments.value("from") else { return nil }
        let bytes = try FileAccess.readNamed(path)
        let storesRegions = !arguments.has("config-only")
        let phone = try PhoneFile(
            bytes, path: path, needsBroker: !arguments.has("host"), storesRegions: storesRegions)
        if let phone {
            for line in phone.remarks { dialogue.show(Terminal.printable(line)) }
            return phone.origin
        }
        let file = try mapError({ Failure(.badData, "\(path) cannot be translated: \($0); nothing was written") }) {
            () throws(YAMLError) in try RoomAssistantFile(bytes)
        }
        for verdict in RoomAssistantReport.Finding.Verdict.allCases {
            let findings = file.findings.filter { $0.verdict == verdict }
            guard !findings.isEmpty else { continue }
            dialogue.show(heading(verdict))
            for finding in findings {
                dialogue.show(Terminal.printable("  line \(finding.line), \(finding.member): \(finding.text)"))
            }
        }
        for address in file.addresses where !storesRegions {
            dialogue.show(
                Terminal.printable(
                    "Not made, because --config-only stores no regions: the region with which this gateway listens for its "
                        + "address. Afterwards: sudo ibeacon-gateway regions add \(ShellWord.quoted(address))"))
        }
        return SetupOrigin(file)
    }

    private static func heading(_ verdict: RoomAssistantReport.Finding.Verdict) -> String {
        switch verdict {
        case .translated: "Translated:"
        case .needless: "Not needed here:"
        case .lost: "NOT translated:"
        }
    }
}

extension SetupOrigin {
    init(_ file: RoomAssistantFile) {
        broker = file.broker.map { BrokerAddress(host: $0.host, port: $0.port, usesTLS: $0.usesTLS) }
        (username, password, room) = (file.username, file.password, file.room)
        (settings, tags, addresses) = (file.settings, file.tags, file.addresses)
    }
}
