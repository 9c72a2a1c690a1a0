import Base
import Configuration
import Glibc
import JSON
import Regions
import Shell
import System

/// The answers so far. Nothing is written before the last answer.
struct Setup {
    let arguments: Arguments
    let dialogue: Dialogue
    let path: String
    var host = "localhost"
    var port: UInt16 = 1883
    var tls = false
    var username: String?
    var password: Secret?
    /// The content of the file of `--ca-file`.
    var authority: [UInt8]?
    var room = ""
    /// The floor of that room, one of `roomFloors`; nil: it is not said.
    var floor: Int64?
    var trackerID = ""
    /// The device of the gateway, if `--device` names it.
    var device: String?
    var beacons: [NamedBeacon] = []
    /// Where the gateway is; nil: not known.
    var place: Coordinates?
    /// Whether the gateway describes itself to Home Assistant; nil: not asked yet.
    var isInHomeAssistant: Bool?
    /// The name of a phone that is enrolled.
    var phone: String?
    /// Whether this machine runs the rooms service; nil if the service stays as it is.
    var runsRoomsService: Bool?
    var proxy: SetupProxy?
    var page: SetupPage?
    /// The file of `--from`.
    var origin: SetupOrigin?

    init(_ arguments: Arguments, _ dialogue: Dialogue) {
        self.arguments = arguments
        self.dialogue = dialogue
        // Absolute, because relative paths in the configuration, such as that of the password, would count from its file.
        path = Self.absolute(
            arguments.value("config") ?? Settings.environment("IBEACON_GATEWAY_CONFIG") ?? Settings.defaultPath)
    }

    var stateDirectory: String {
        arguments.value("state-dir") ?? Settings.environment("STATE_DIRECTORY") ?? Settings.defaultStateDirectory
    }

    var regions: SetupRegions { SetupRegions(stateDirectory: stateDirectory, dialogue: dialogue) }

    /// Whether these are the files that the service uses.
    var isForService: Bool {
        path == Settings.defaultPath && stateDirectory == Settings.defaultStateDirectory && !arguments.has("no-service")
    }

    /// Detects failures early that would otherwise happen at the end.
    mutating func prepare() throws {
        try SetupFiles.prepare(SetupFiles.directory(of: path))
        // With --config-only a file that would be the same may stay.
        guard FileAccess.exists(path), !arguments.has("force"), !arguments.has("config-only") else { return }
        let question = "There is a configuration already, \(path). Make a new one, and keep that one as \(path).old?"
        guard dialogue.isInteractive, try dialogue.confirm(question, false) else {
            throw Failure(.cannotCreate, "\(path) stays as it is; --force replaces it and keeps the old one as .old")
        }
    }

    /// Asks for the first beacons, and for the place.
    mutating func chooseBeacons() throws {
        place = try PlaceQuestion(arguments: arguments, dialogue: dialogue).answer(known: origin?.coordinates)
        guard !arguments.has("config-only") else { return }
        // What a file brings is enough to begin with.
        let question = BeaconQuestion(arguments: arguments, dialogue: dialogue)
        let isWanted = origin.map { $0.tags.isEmpty && $0.regions.isEmpty } ?? true
        beacons = try question.answer(isWanted: isWanted) { () throws(Failure) in try settings() }
        // Invalid answers must be found before anything is written.
        for beacon in beacons { _ = try SetupRegions.region(beacon.description) }
        _ = try settings()
    }

    /// The members of the configuration, without the password, which is in a separate file.
    var members: [(name: String, value: JSONValue)] {
        var members: [(String, JSONValue)] = [
            ("_type", "configuration"), ("host", .string(host)), ("port", .integer(Int64(port))),
        ]
        if tls { members.append(("tls", true)) }
        if arguments.value("ca-file") != nil { members.append(("caFile", .string(authorityPath))) }
        if let username { members.append(("username", .string(username))) }
        if password != nil { members.append(("passwordFile", .string(passwordPath))) }
        members += [("deviceId", .string(deviceID)), ("tid", .string(trackerID))]
        if room != deviceID { members.append(("room", .string(room))) }
        if let floor { members.append(("floor", .integer(floor))) }
        if let scanner = SetupScanner(arguments.value("scanner")).member(Self.absolute) {
            members.append(("scanner", scanner))
        }
        if let place { members += [("lat", .plain(place.latitude)), ("lon", .plain(place.longitude))] }
        if isInHomeAssistant == true { members.append(("homeAssistant", ["discovery": true])) }
        let trackers = NamedBeacon.trackers(of: persons, besides: deviceID)
        if !trackers.isEmpty { members.append(("trackers", .array(trackers))) }
        members += (proxy?.members ?? []) + (page?.members ?? [])
        if let origin {
            let own = Set(members.map(\.0))
            members += origin.settings.filter { !own.contains($0.name) }
            if !origin.tags.isEmpty {
                members.append(("rooms", ["tags": .array(origin.tags.map { .string($0) })]))
            }
        }
        return members
    }

    /// The beacons that persons carry.
    var persons: [NamedBeacon] { beacons.filter(\.isPersons) }

    var passwordPath: String { SetupFiles.directory(of: path) + "/password" }
    /// The copy of the file of `--ca-file`, which may be where the service cannot read it, as in a home directory.
    var authorityPath: String { SetupFiles.directory(of: path) + "/ca.pem" }

    /// The settings that result from the answers so far, including the password.
    func settings() throws(Failure) -> Settings {
        let json = JSONValue.object(Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first })
        do throws(ConfigurationError) {
            // The files beside the configuration are not written yet.
            let files = ConfigurationFiles { [password, proxy] path throws(ConfigurationFiles.Problem) in
                if path == proxy?.keyPath { return SetupProxy.placeholder }
                guard let password else { throw ConfigurationFiles.Problem("\(path) is not written") }
                return password
            }
            var configuration = try Configuration(json, hostName: Settings.hostName, files: files)
            configuration.broker.caFile = arguments.value("ca-file")
            return Settings(configuration: configuration, json: json, path: path, stateDirectory: stateDirectory)
        } catch {
            throw Failure(.usage, "these answers are not valid: \(error)")
        }
    }

    /// What is shown at the end, by the files that were written.
    ///
    /// - Parameter isStarted: Whether the service was started with them.
    func conclusion(isStarted: Bool) throws -> SetupConclusion {
        SetupConclusion(
            settings: try Settings(readingFrom: path, stateDirectory: stateDirectory),
            needsRoomsService: origin?.tags.isEmpty == false && runsRoomsService != true, isForService: isForService,
            isStarted: isStarted)
    }

    /// The device, or the room as a topic level: `Living room` becomes `living-room`.
    var deviceID: String { device ?? NamedBeacon.topicLevel(of: room) ?? "gateway" }

    private static func absolute(_ file: String) -> String {
        guard !file.hasPrefix("/"), let here = getcwd(nil, 0) else { return file }
        defer { free(here) }
        return String(cString: here) + "/" + file
    }
}
