import Base
import Beacon
package import JSON
import OwnTracks
import Regions

extension Configuration {
    /// Reads a configuration file: JSON5, or an `.otrc` as the apps export it.
    ///
    /// - Parameters:
    ///   - text: The bytes of the file.
    ///   - hostName: The default of `deviceId`.
    ///   - files: How the files that it names are read.
    package init(
        parsing text: some Collection<UInt8>, hostName: String, files: ConfigurationFiles = .unread
    ) throws(ConfigurationError) {
        let json = try mapError({
            ConfigurationError(problems: [ConfigurationProblem(member: "", reason: Self.reason($0, in: Array(text)))])
        }) { () throws(JSONError) in
            try JSONValue(parsing: text, dialect: .json5)
        }
        try self.init(json, hostName: hostName, files: files)
        warn(of: Self.repetitions(in: text))
    }

    /// Why a text is no configuration, and what takes it if people have it for one.
    package static func reason(_ error: JSONError, in text: [UInt8]) -> String {
        ConfigurationReader.advice(forText: text) ?? error.description
    }

    /// - Throws: All errors, not only the first.
    package init(
        _ json: JSONValue, hostName: String, files: ConfigurationFiles = .unread
    ) throws(ConfigurationError) {
        guard let members = json.object else {
            let isList = json.array?.first?["_type"] == "waypoint"
            let reason =
                isList ? ConfigurationReader.waypointsAdvice : "\(json.kindName) is not a configuration; write { … }"
            throw ConfigurationError(problems: [ConfigurationProblem(member: "", reason: reason)])
        }
        var reader = ConfigurationReader(members, hostName: hostName, files: files)
        self = reader.read()
        guard reader.problems.isEmpty else { throw ConfigurationError(problems: reader.problems) }
    }

    /// The configuration if nothing is set.
    package static func defaults(hostName: String) -> Configuration {
        var reader = ConfigurationReader([:], hostName: hostName, files: .unread)
        return reader.read()
    }
}

/// Turns the members of a configuration into settings.
struct ConfigurationReader {
    private let hostName: String
    private var top: MemberReader
    private var warnings: [ConfigurationProblem] = []

    init(_ members: [String: JSONValue], hostName: String, files: ConfigurationFiles) {
        top = MemberReader(Setting.currentNames(members), files: files)
        self.hostName = hostName
    }

    var problems: [ConfigurationProblem] { top.problems }

    mutating func read() -> Configuration {
        checkWhole()
        // Waypoints depend on the number base. The settings below depend on the trackers.
        let numberBase = numberBase()
        let trackers = trackers(base: numberBase)
        var configuration = Configuration(
            broker: broker(of: trackers[0]), trackers: trackers, position: position(),
            room: trackers[0].derivedRoom, numberBase: numberBase)
        for setting in Setting.all { setting.read?(&top, &configuration) }
        checkSignal(configuration)
        checkTransport(&configuration)
        checkMasks(configuration.batteryMasks)
        checkSiteKey(configuration)
        checkSiteTopics(configuration)
        configuration.warnings = warnings
        return configuration
    }

    // MARK: Checks of several settings

    private mutating func checkSignal(_ configuration: Configuration) {
        guard let enter = configuration.enterRSSI, let leave = configuration.leaveRSSI, leave > enter else { return }
        top.complain("leaveRSSI", "\(leave.dBm) must not be above enterRSSI (\(enter.dBm))")
    }

    /// Home Assistant reads only unencrypted states.
    private mutating func checkSiteKey(_ configuration: Configuration) {
        guard let rooms = configuration.rooms else { return }
        guard rooms.hasKey else {
            if rooms.publishesPlainState { warn("rooms.plainState", "it has no effect without a key of the site") }
            return
        }
        guard configuration.homeAssistant.discovery, !rooms.publishesPlainState else { return }
        top.complain(
            "homeAssistant",
            "discovery needs states that are not encrypted, and the site has a key (rooms.encryptionKey); write "
                + "rooms: {plainState: true} if this is wanted")
    }

    /// The rooms service is an OwnTracks device of its own, at the same broker.
    private mutating func checkSiteTopics(_ configuration: Configuration) {
        // An invalid topic is reported once.
        guard let rooms = configuration.rooms, !top.problems.contains(where: { $0.member.hasSuffix("pubTopicBase") })
        else { return }
        do throws(TopicError) {
            let topics = try configuration.topics(ofService: rooms)
            guard let index = configuration.trackers.firstIndex(where: { $0.topics == topics }) else { return }
            top.complain(
                index == 0 ? "deviceId" : "trackers[\(index - 1)].deviceId",
                "the topic is \(topics.base), which is that of the rooms service; give it another deviceId")
        } catch {
            top.complain("username", "it cannot be part of the rooms service's topic: \(error)")
        }
    }

    private mutating func checkMasks(_ masks: BatteryMasks) {
        for mask in masks.all {
            let beacons = mask.uuid.map { "the beacons of \($0)" } ?? "all beacons of one UUID"
            if mask.major == .max, mask.minor == .max {
                warn("battery", "it leaves no bits of major and minor, so \(beacons) count as one")
            } else if !mask.isContiguous, !mask.isEmpty {
                warn("battery", "the bits of \(beacons) are not side by side; they are cleared, and give no level")
            }
        }
    }

    /// Removes from a configuration for HTTP what needs MQTT.
    private mutating func checkTransport(_ configuration: inout Configuration) {
        guard configuration.broker.endpoint != nil else { return }
        checkHeaders(of: configuration.trackers)
        if configuration.homeAssistant.discovery {
            warn("homeAssistant", "discovery is off in mode 3; it needs an MQTT broker")
            configuration.homeAssistant.discovery = false
        }
        if configuration.rooms != nil, top.value("rooms") != nil {
            warn("rooms", "no readings are published in mode 3; a rooms service needs an MQTT broker")
        }
        configuration.rooms = nil
    }

    private mutating func checkWhole() {
        if let type = top.value("_type"), type != "configuration" {
            top.complain("_type", Self.advice(for: type))
            return
        }
        if !isHTTP, top.flag("ws") == true {
            top.complain("ws", "true is not supported; a gateway does not speak MQTT over WebSockets, write false")
        }
        for name in ["allowinvalidcerts", "allowUntrustedCertificates"] where top.flag(name) == true {
            warn(name, "certificates are always checked; give the broker's own CA with caFile")
        }
        for name in ["clientpkcs", "tlsClientCrt", "tlsCaCrt", "servercer"] where top.value(name) != nil {
            warn(name, "a phone's certificate store is not read; use caFile, clientCertificateFile and clientKeyFile")
        }
        checkPhone()
        top.refuseUnknown(known: Setting.names, ignored: PhoneSettings.names)
    }

    /// An app exports dozens of settings that only a phone has. A person may have copied one.
    private static let leastPhoneSettings = 3

    /// With the client id of the phone two clients would end each other's connections, and with its device both would be one on
    /// the map.
    private mutating func checkPhone() {
        let ofPhone = PhoneSettings.names.filter { top.value($0) != nil }.sorted()
        guard ofPhone.count >= Self.leastPhoneSettings,
            let name = ["clientId", "deviceId"].first(where: { top.value($0) != nil })
        else { return }
        warn(
            name,
            "this is the file of an app, and clientId, deviceId and tid are the phone's: two clients with one id end each other's "
                + "connections. Leave them out, as 'setup --from FILE' does; if they are the gateway's own, remove the "
                + "app's settings, such as \(ofPhone[0])")
    }

    static let waypointsAdvice = "this is a list of waypoints; 'ibeacon-gateway regions import FILE' takes it"

    /// What a file is that is no configuration, and which command takes it.
    private static func advice(for type: JSONValue) -> String {
        switch type.string {
        case "waypoints", "waypoint": waypointsAdvice
        case "cmd": "this is a command; publish it on the tracker's topic /cmd"
        case "dump": "this is a dump; the configuration is its member 'configuration'"
        case "encrypted": "this is encrypted; a configuration is not"
        default: "\(type.shortened) does not fit; write 'configuration' or leave it out"
        }
    }

    /// What a text is that is no JSON, and what takes it; nil if it is nothing that people have.
    static func advice(forText text: [UInt8]) -> String? {
        if text.starts(with: "owntracks:".utf8) {
            return
                "this is a link of OwnTracks; 'ibeacon-gateway regions import FILE' takes its waypoints, and what follows inline= is a "
                + "file in base64"
        }
        if text.starts(with: [0x1f, 0x8b]) { return "this is compressed (gzip); unpack it first, with zcat" }
        guard let bytes = Base64.bytes(text), (try? JSONValue(parsing: bytes)) != nil else { return nil }
        return "this is base64; decode it first: base64 -d FILE > NEW-FILE"
    }

    private mutating func warn(_ member: String, _ reason: String) {
        warnings.append(ConfigurationProblem(member: member, reason: reason))
    }

    private mutating func numberBase() -> NumberBase {
        top.read("majorMinorBase", "'auto', 'decimal' or 'hex'") {
            $0.string.flatMap { NumberBase(rawValue: $0) }
        } ?? .auto
    }

    private mutating func position() -> Position {
        let latitude = top.number("lat", -90...90, ", in degrees")
        let longitude = top.number("lon", -180...180, ", in degrees")
        if latitude != nil, top.value("lon") == nil { top.complain("lon", "it is required together with lat") }
        if longitude != nil, top.value("lat") == nil { top.complain("lat", "it is required together with lon") }
        return Position(
            coordinates: Coordinates(latitude: latitude ?? 0, longitude: longitude ?? 0),
            accuracy: Self.accuracy(&top, &warnings) ?? 10)
    }

    /// Metres. A value below 1 is not an error, because phones know 0. It is raised to 1.
    static func accuracy(_ reader: inout MemberReader, _ warnings: inout [ConfigurationProblem]) -> Int? {
        guard let metres = reader.number("acc", 0...1_000_000, ", in metres") else { return nil }
        if metres < 1 {
            let reason = "it is raised to 1; Home Assistant takes 0 for no position at all"
            warnings.append(ConfigurationProblem(member: "\(reader.path)acc", reason: reason))
        }
        return max(1, Int(metres.rounded()))
    }

    private mutating func broker(of tracker: TrackerConfiguration) -> Broker {
        let hosts = hosts()
        let tls = top.value("tls")?.asBool ?? hosts.tls ?? false
        let port = top.whole("port", 0...65_535, " (0 is offline)") ?? hosts.port
        // Phones can hold a login that is switched off.
        let logsIn = top.flag("auth") ?? true
        let sendsPassword = logsIn && (top.flag("usePassword") ?? true)
        // One that is not sent is not read: its file may be gone.
        let password = password(readsFile: sendsPassword)
        for (name, other) in [
            ("clientKeyFile", "clientCertificateFile"), ("clientCertificateFile", "clientKeyFile"),
        ] where top.value(name) == nil && top.value(other) != nil {
            top.complain(name, "it is required together with \(other)")
        }
        // OpenSSL and curl read a key whoever else may.
        if let key = top.text("clientKeyFile"), let problem = top.files.exposure(top.files.resolved(key)) {
            top.complain("clientKeyFile", problem.reason)
        }
        if sendsPassword, password != .absent, tracker.username == nil {
            // MQTT 3.1.1, 3.1.2.9: no password without a user name.
            top.complain("username", "it is required together with the password")
        }
        if port == 8883, !tls, !isHTTP {
            let secret = sendsPassword && password != .absent ? ", the password with it" : ""
            warn("tls", "8883 is the port for TLS as a rule, and without tls: true all is sent unencrypted" + secret)
        }
        if sendsPassword, password.secret?.hasOuterBlank == true {
            warn(password.path == nil ? "password" : "passwordFile", Secret.outerBlank)
        }
        return Broker(
            endpoint: endpoint(), hosts: hosts.names, port: UInt16(truncatingIfNeeded: port ?? (tls ? 8883 : 1883)),
            tls: tls, username: logsIn ? tracker.username : nil, password: sendsPassword ? password : .absent,
            clientID: top.text("clientId") ?? tracker.derivedClientID)
    }

    /// The password; of a file, without the byte order mark with which editors of Windows begin one.
    private mutating func password(readsFile: Bool) -> SecretSetting {
        let password = top.secret("password", readsFile: readsFile)
        guard case .file(let path, let secret) = password else { return password }
        guard let text = Secret.withoutMark(secret.revealed) else {
            top.complain("passwordFile", "the first line of \(path) is empty")
            return .absent
        }
        return .file(path: path, secret: Secret(text))
    }

    /// What `host` says: one host, or the list of a cluster's hosts, with the port and the scheme that may be in them.
    private mutating func hosts() -> (names: [String], port: Int?, tls: Bool?) {
        let standard: (names: [String], port: Int?, tls: Bool?) = (["localhost"], nil, nil)
        var texts: [String]
        if case .array(let items)? = top.value("host") {
            texts = items.compactMap(\.string).filter { !$0.isEmpty }
            guard (1...Broker.mostHosts).contains(texts.count), texts.count == items.count else {
                top.complain("host", "this does not fit; write a name, or a list of 1 to \(Broker.mostHosts) names")
                return standard
            }
        } else {
            guard let text = top.text("host") else { return standard }
            texts = [text]
        }
        // An app may have left an MQTT broker here, or anything else.
        guard !isHTTP else { return (texts, nil, nil) }
        var hosts: [BrokerHost] = []
        do throws(BrokerHost.Problem) {
            for text in texts { hosts.append(try BrokerHost(text)) }
        } catch {
            top.complain("host", error.reason)
            return standard
        }
        let (port, tls) = (hosts[0].port, hosts[0].tls)
        guard hosts.allSatisfy({ $0.port == port && $0.tls == tls }) else {
            top.complain("host", "all hosts of a list have one port and one scheme; write names, and port and tls")
            return standard
        }
        if let port, let other = top.value("port")?.asInteger, other != Int64(port) {
            top.complain("host", "it says port \(port), and port says \(other); give one of the two")
        }
        if let tls, let other = top.value("tls")?.asBool, other != tls {
            let scheme = tls ? "TLS" : "no TLS"
            top.complain("host", "its scheme says \(scheme), and tls says \(other); give one of the two")
        }
        return (hosts.map(\.name), port, tls)
    }

    private var isHTTP: Bool { top.value("mode")?.asInteger == 3 }

    /// nil in MQTT mode, whatever address an app has left in `url`.
    private mutating func endpoint() -> Endpoint? {
        if let mode = top.value("mode"), ![0, 3].contains(mode.asInteger) {
            top.complain("mode", "\(mode.shortened) does not fit; write 0 (MQTT) or 3 (HTTP)")
        }
        let text = top.text("url", isSecret: true)
        guard isHTTP else { return nil }
        if top.value("httpHeaders") != nil { warn("httpHeaders", "these are not sent") }
        guard let text else {
            if top.value("url") == nil { top.complain("url", "it is missing; mode 3 posts to it") }
            return nil
        }
        // The text is not shown, because it may contain a password.
        guard let endpoint = Endpoint(text) else {
            top.complain("url", "this does not fit; write http://host/path or https://host/path")
            return nil
        }
        guard endpoint.login?.password.revealed != Secret.mask else {
            top.complain("url", "this contains the placeholder of a hidden secret from a dump; write the secret itself")
            return nil
        }
        return endpoint
    }

    /// User and device go into headers, where a line end would begin another header.
    private mutating func checkHeaders(of trackers: [TrackerConfiguration]) {
        for (index, tracker) in trackers.enumerated() {
            for (name, text) in [("username", tracker.username ?? ""), ("deviceId", tracker.deviceID)]
            where text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
                let path = index == 0 ? "" : "trackers[\(index - 1)]."
                top.add([
                    ConfigurationProblem(
                        member: path + name, reason: "it has a control character, which HTTP cannot carry")
                ])
            }
        }
    }

    private mutating func trackers(base: NumberBase) -> [TrackerConfiguration] {
        var own = TrackerReader(top, hostName: hostName, base: base)
        var trackers = [own.read(&warnings)]
        top = own.reader
        var elements = top.read("trackers", "an array of objects") { $0.array } ?? []
        if elements.count > Configuration.mostTrackers {
            top.complain(
                "trackers", "it has \(elements.count) elements; at most \(Configuration.mostTrackers) are allowed")
            elements = []
        }
        var topics: Set<ExactString> = [ExactString(trackers[0].topics.base)]
        var devices: Set<ExactString> = [ExactString(trackers[0].deviceID)]
        // They may inherit the regions of the top level, which are read once.
        var regions = trackers[0].waypoints.changes.count
        for (index, element) in elements.enumerated() {
            let path = "trackers[\(index)]"
            guard let members = element.object else {
                top.add([
                    ConfigurationProblem(member: path, reason: "\(element.kindName) does not fit; write an object")
                ])
                continue
            }
            let reader = TrackerReader.reader(for: members, path: "\(path).", below: top)
            var tracker = TrackerReader(reader, hostName: hostName, base: base, inherited: trackers[0].waypoints)
            var read = tracker.read(&warnings)
            regions += read.waypoints.changes.count
            if regions > Configuration.mostRegions {
                regions -= read.waypoints.changes.count
                read.waypoints = WaypointsReading()
                warn(
                    "\(path).waypoints",
                    "its regions are left out: those of all trackers would be more than \(Configuration.mostRegions)")
            }
            let isNewTopic = topics.insert(ExactString(read.topics.base)).inserted
            let isNewDevice = devices.insert(ExactString(read.deviceID)).inserted
            if !isNewTopic {
                let topic = shortened(read.topics.base)
                tracker.reader.complain(
                    members["pubTopicBase"] == nil ? "deviceId" : "pubTopicBase",
                    "two trackers have the topic '\(topic)'; give this one another device or topic")
            } else if !isNewDevice {
                let device = shortened(read.deviceID)
                warn(
                    "\(path).deviceId",
                    "another tracker has the device '\(device)' too, so both write the same topics of regions and "
                        + "readings; give this one another deviceId")
            }
            top.add(tracker.reader.problems)
            trackers.append(read)
        }
        return trackers
    }
}
