// Files that a user, a phone or an earlier version wrote, and settings from afar.
import Base
import Configuration
import JSON
import OwnTracks
import Presence
import Regions
import Rooms
import SiteCore

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    if let state = PresenceState(bytes: input) {
        require(PresenceState(bytes: state.bytes) != nil, "what is written cannot be read")
    }
    // A file of waypoints may also be lines of JSON, links or base64.
    if let list = try? WaypointsEnvelope.list(in: input) { _ = try? WaypointsReading(list) }
    guard let json = try? JSONValue(parsing: input, dialect: .json5) else { return 0 }
    do throws(ConfigurationError) {
        let configuration = try Configuration(json, hostName: "pi", files: files)
        let again = try Configuration(configuration.shown, hostName: "elsewhere", files: files)
        require(again.shown == configuration.shown, "what is shown reads differently")
    } catch {
        require(!error.problems.isEmpty)
    }
    settingsFromAfar(json)
    if let reading = try? WaypointsReading(json) {
        var set = RegionSet()
        _ = set.apply(reading.changes)
        let again = set.apply(reading.changes)
        require(again.inserted.isEmpty && again.updated.isEmpty, "an import is not idempotent")
    }
    if let site = try? LearnedSite(json) {
        require((try? LearnedSite(site.json)) != nil, "what is learned is not kept")
    }
    return 0
}

private var files: ConfigurationFiles { ConfigurationFiles { Secret("in \($0)") } }

private let file: JSONValue = [
    "tls": true, "caFile": "a", "http": ["listen": "127.0.0.1:9"], "encryptionKeyFile": "k",
    "rooms": ["site": "home", "http": ["listen": "127.0.0.1:8"], "encryptionKeyFile": "s"],
]

/// Whatever comes from afar, ports, files and keys stay.
private func settingsFromAfar(_ json: JSONValue) {
    var changes = json.object ?? [:]
    changes["_type"] = "configuration"
    guard let before = try? Configuration(file, hostName: "pi", files: files),
        let after = try? RemoteSettings(
            applying: .object(changes), to: file, hostName: "pi", files: files
        ).configuration
    else { return }
    require(after.statusPage == before.statusPage, "the port of the page")
    require(after.broker.tls && after.broker.caFile == before.broker.caFile, "whom TLS trusts")
    require(
        after.trackers.allSatisfy { $0.encryptionKey == .file(path: "k", secret: Secret("in k")) },
        "the key of a tracker")
    // Over HTTP (mode 3) there is no site.
    if let rooms = after.rooms {
        require(
            rooms.statusPage == before.rooms?.statusPage
                && rooms.encryptionKey == .file(path: "s", secret: Secret("in s")),
            "the page or key of the site")
    }
    require(after.scanner == before.scanner && after.adapters == before.adapters, "a radio")
}
