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
    ///   - hostName: Stands in for `deviceId`.
    package init(parsing text: some Collection<UInt8>, hostName: String) throws(ConfigurationError) {
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: text, dialect: .json5)
        } catch {
            throw ConfigurationError(problems: [ConfigurationProblem(member: "", reason: error.description)])
        }
        try self.init(json, hostName: hostName)
    }

    /// - Throws: All that is wrong with it, not only the first.
    package init(_ json: JSONValue, hostName: String) throws(ConfigurationError) {
        guard let members = json.object else {
            let reason = "\(json.kindName) is no configuration; write { … }"
            throw ConfigurationError(problems: [ConfigurationProblem(member: "", reason: reason)])
        }
        var reader = ConfigurationReader(members, hostName: hostName)
        self = reader.read()
        guard reader.problems.isEmpty else { throw ConfigurationError(problems: reader.problems) }
    }

    /// What holds if nothing is set.
    package static func defaults(hostName: String) -> Configuration {
        var reader = ConfigurationReader([:], hostName: hostName)
        return reader.read()
    }
}

/// Turns the members of a configuration into settings.
struct ConfigurationReader {
    private let hostName: String
    private var top: MemberReader
    private var warnings: [ConfigurationProblem] = []

    init(_ members: [String: JSONValue], hostName: String) {
        top = MemberReader(members)
        self.hostName = hostName
    }

    var problems: [ConfigurationProblem] { top.problems }

    mutating func read() -> Configuration {
        checkWhole()
        let numberBase = numberBase()
        let trackers = trackers(base: numberBase)
        let broker = broker(of: trackers[0])
        let (enter, leave) = (top.rssi("enterRSSI"), top.rssi("leaveRSSI"))
        if let enter, let leave, leave > enter {
            top.complain("leaveRSSI", "\(leave.dBm) is above enterRSSI (\(enter.dBm)); it must not be")
        }
        let endpoint = broker.endpoint
        if endpoint != nil { checkHeaders(of: trackers) }
        return Configuration(
            broker: broker, trackers: trackers, position: position(),
            monitoring: top.read("monitoring", "-1 (quiet), 0 (manual), 1 (significant) or 2 (move)") {
                $0.asInteger.flatMap { Int(exactly: $0) }.flatMap { MonitoringMode(rawValue: $0) }
            } ?? .significant,
            ping: interval("ping", .seconds(60), 15, 0...525_600, ", in minutes (0 sends none)"),
            locatorInterval: interval(
                "locatorInterval", .seconds(1), 300, 0...31_536_000, ", in seconds (0 sends none)"),
            obeysCommands: top.flag("cmd") ?? true,
            allowsRemoteConfiguration: top.flag("remoteConfiguration") ?? false,
            remoteTrial: .milliseconds(
                Int64(((top.number("remoteConfigurationTrial", 0.1...3600, ", in seconds") ?? 60) * 1000).rounded())),
            tag: top.text("tag"), ranging: top.flag("ranging") ?? false,
            rangingInterval: .milliseconds(
                Int64(((top.number("rangingInterval", 0.1...86_400, ", in seconds") ?? 5) * 1000).rounded())),
            scanner: scanner(), adapters: adapters(),
            leaveRule: top.read("leaveAfter", LeaveRule.allowed) { LeaveRule($0) } ?? .auto,
            enterRSSI: enter, leaveRSSI: leave, homeAssistant: homeAssistant(endpoint),
            room: room(default: trackers[0].deviceID), rooms: rooms(endpoint),
            statusPage: Self.statusPage(&top, port: 8080),
            historyDays: historyDays(), numberBase: numberBase, card: card(),
            reannounces: top.flag("reannounce") ?? false, warnings: warnings)
    }

    private mutating func checkWhole() {
        if let type = top.value("_type"), type != "configuration" {
            top.complain("_type", "\(type.shortened) does not fit; write 'configuration' or leave it out")
        }
        if !isHTTP, top.flag("ws") == true {
            top.complain("ws", "true does not fit; a gateway does not speak MQTT over WebSockets, write false")
        }
        for name in ["allowinvalidcerts", "allowUntrustedCertificates"] where top.flag(name) == true {
            warn(name, "certificates are always checked; give the broker's own CA with caFile")
        }
        for name in ["clientpkcs", "tlsClientCrt", "tlsCaCrt", "servercer"] where top.value(name) != nil {
            warn(name, "a phone's certificate store is not read; use caFile, clientCertificateFile and clientKeyFile")
        }
        top.refuseUnknown(known: ConfigurationMember.names, ignored: PhoneSettings.names)
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
        if latitude != nil, top.value("lon") == nil { top.complain("lon", "it is missing beside lat") }
        if longitude != nil, top.value("lat") == nil { top.complain("lat", "it is missing beside lon") }
        return Position(
            coordinates: Coordinates(latitude: latitude ?? 0, longitude: longitude ?? 0),
            accuracy: Self.accuracy(&top, &warnings) ?? 10)
    }

    /// Metres. Below 1 is no error, since phones know 0, but it is raised.
    static func accuracy(_ reader: inout MemberReader, _ warnings: inout [ConfigurationProblem]) -> Int? {
        guard let metres = reader.number("acc", 0...1_000_000, ", in metres") else { return nil }
        if metres < 1 {
            let reason = "it is raised to 1; Home Assistant takes 0 for no position at all"
            warnings.append(ConfigurationProblem(member: "\(reader.path)acc", reason: reason))
        }
        return max(1, Int(metres.rounded()))
    }

    private mutating func broker(of tracker: TrackerConfiguration) -> Broker {
        let tls = top.flag("tls") ?? false
        let port = top.whole("port", 0...65_535, " (0 is offline)")
        // Phones can hold a login that is switched off.
        let logsIn = top.flag("auth") ?? true
        let sendsPassword = logsIn && (top.flag("usePassword") ?? true)
        let password = top.secret("password")
        let passwordFile = top.text("passwordFile")
        if password != nil, passwordFile != nil {
            top.complain("passwordFile", "it stands beside password; give one of the two")
        }
        let certificate = top.text("clientCertificateFile")
        let key = top.text("clientKeyFile")
        if certificate != nil, key == nil {
            top.complain("clientKeyFile", "it is missing beside clientCertificateFile")
        }
        if key != nil, certificate == nil {
            top.complain("clientCertificateFile", "it is missing beside clientKeyFile")
        }
        if sendsPassword, password != nil || passwordFile != nil, tracker.username == nil {
            // MQTT 3.1.1, 3.1.2.9: no password without a user name.
            top.complain("username", "it is missing beside the password")
        }
        return Broker(
            endpoint: endpoint(), hosts: hosts() ?? ["localhost"],
            port: UInt16(truncatingIfNeeded: port ?? (tls ? 8883 : 1883)), tls: tls,
            caFile: top.text("caFile"), clientCertificateFile: certificate, clientKeyFile: key,
            username: logsIn ? tracker.username : nil, password: sendsPassword ? password : nil,
            passwordFile: sendsPassword ? passwordFile : nil,
            clientID: top.text("clientId") ?? Self.clientID(of: tracker),
            // libmosquitto takes no shorter one.
            keepalive: .seconds(top.whole("keepalive", 5...65_535, ", in seconds") ?? 60),
            cleanSession: top.flag("cleanSession") ?? false,
            protocolLevel: top.read("mqttProtocolLevel", "3 (MQTT 3.1), 4 (3.1.1) or 5") {
                $0.asInteger.flatMap { UInt8(exactly: $0) }.flatMap { MQTTProtocolLevel(rawValue: $0) }
            } ?? .v5,
            qos: UInt8(truncatingIfNeeded: top.whole("pubQos", 0...2) ?? 1),
            retainsLocations: top.flag("pubRetain") ?? true,
            publishesWaypoints: top.flag("publishWaypoints") ?? false)
    }

    /// One host, or a list of those of a cluster.
    private mutating func hosts() -> [String]? {
        guard case .array(let items)? = top.value("host") else { return top.text("host").map { [$0] } }
        let hosts = items.compactMap(\.string).filter { !$0.isEmpty && !$0.unicodeScalars.contains("\0") }
        guard (1...Broker.mostHosts).contains(hosts.count), hosts.count == items.count else {
            top.complain("host", "this does not fit; write a name, or a list of 1 to \(Broker.mostHosts) names")
            return nil
        }
        return hosts
    }

    private var isHTTP: Bool { top.value("mode")?.asInteger == 3 }

    /// nil in MQTT mode, whatever address an app has left there.
    private mutating func endpoint() -> Endpoint? {
        if let mode = top.value("mode"), ![0, 3].contains(mode.asInteger) {
            top.complain("mode", "\(mode.shortened) does not fit; write 0 (MQTT) or 3 (HTTP)")
        }
        let text = top.text("url", isSecret: true)
        guard isHTTP else { return nil }
        if top.value("httpHeaders") != nil { warn("httpHeaders", "these are not sent") }
        guard let text else {
            if top.value("url") == nil { top.complain("url", "it is missing, and mode 3 posts there") }
            return nil
        }
        // What is wrong is not shown: a password may stand in it.
        guard let endpoint = Endpoint(text) else {
            top.complain("url", "this does not fit; write http://host/path or https://host/path")
            return nil
        }
        guard endpoint.login?.password.revealed != Secret.mask else {
            top.complain("url", "this holds what stands for a hidden secret in a dump; write the secret itself")
            return nil
        }
        return endpoint
    }

    /// User and device go into headers, where a line end would begin another one.
    private mutating func checkHeaders(of trackers: [TrackerConfiguration]) {
        for (position, tracker) in trackers.enumerated() {
            for (name, text) in [("username", tracker.username ?? ""), ("deviceId", tracker.deviceID)]
            where text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
                let path = position == 0 ? "" : "trackers[\(position - 1)]."
                top.add([
                    ConfigurationProblem(
                        member: path + name, reason: "it has a control character, which HTTP cannot carry")
                ])
            }
        }
    }

    /// As the apps make it: user and device, letters and digits only.
    private static func clientID(of tracker: TrackerConfiguration) -> String {
        let letters = ((tracker.username ?? "user") + tracker.deviceID).unicodeScalars.filter {
            switch $0 {
            case "0"..."9", "a"..."z", "A"..."Z": true
            default: false
            }
        }
        return letters.isEmpty ? "ibeacongateway" : String(String.UnicodeScalarView(letters))
    }

    private mutating func trackers(base: NumberBase) -> [TrackerConfiguration] {
        var own = TrackerReader(top, hostName: hostName, base: base)
        var trackers = [own.read(&warnings)]
        top = own.reader
        for (position, element) in (top.read("trackers", "an array of objects") { $0.array } ?? []).enumerated() {
            let path = "trackers[\(position)]"
            guard let members = element.object else {
                top.add([
                    ConfigurationProblem(member: path, reason: "\(element.kindName) does not fit; write an object")
                ])
                continue
            }
            let reader = TrackerReader.reader(for: members, path: "\(path).", below: top.members)
            var tracker = TrackerReader(reader, hostName: hostName, base: base)
            let read = tracker.read(&warnings)
            if trackers.contains(where: { $0.topics == read.topics }) {
                let topic = shortened(read.topics.base)
                tracker.reader.complain(
                    members["pubTopicBase"] == nil ? "deviceId" : "pubTopicBase",
                    "two trackers have the topic '\(topic)'; give this one another device or topic")
            }
            top.add(tracker.reader.problems)
            trackers.append(read)
        }
        return trackers
    }

    private mutating func scanner() -> ScannerChoice {
        let allowed = "'auto', 'mgmt', 'hci', 'bluez' or {capture: FILE, speed: 1}"
        if top.value("scanner")?.object != nil {
            guard var inner = top.inner("scanner", allowed) else { return .auto }
            let file = inner.text("capture")
            if file == nil, inner.problems.isEmpty { inner.complain("capture", "it is missing; name a recording") }
            let speed = inner.number("speed", 0.001...1_000_000) ?? 1
            inner.refuseUnknown(known: ["capture", "speed"])
            top.add(inner.problems)
            return .capture(file: file ?? "", speed: speed)
        }
        return top.read("scanner", allowed) {
            switch $0 {
            case "auto": .auto
            case "mgmt": .mgmt
            case "hci": .hci
            case "bluez": .bluez
            default: nil
            }
        } ?? .auto
    }

    private mutating func adapters() -> [AdapterName] {
        top.read("adapter", "'all', an adapter such as hci0 or 00:11:22:33:44:55, or an array of these") {
            switch $0 {
            case "all": return []
            case .array(let elements):
                let names = elements.compactMap { $0.string.flatMap { AdapterName($0) } }
                return names.count == elements.count ? names : nil
            default: return $0.string.flatMap { AdapterName($0) }.map { [$0] }
            }
        } ?? []
    }

    private mutating func homeAssistant(_ endpoint: Endpoint?) -> HomeAssistantSettings {
        var settings = HomeAssistantSettings(discovery: false, prefix: "homeassistant")
        guard var inner = top.inner("homeAssistant", "{discovery: true, prefix: 'homeassistant'}") else {
            return settings
        }
        settings.discovery = inner.flag("discovery") ?? settings.discovery
        if let prefix = inner.text("prefix") {
            do throws(TopicError) {
                settings.prefix = try Topics(base: prefix).base
            } catch {
                inner.complain("prefix", error.description)
            }
        }
        inner.refuseUnknown(known: ["discovery", "prefix"])
        top.add(inner.problems)
        if endpoint != nil, settings.discovery {
            warn("homeAssistant", "discovery is off in mode 3; it needs an MQTT broker")
            settings.discovery = false
        }
        return settings
    }

    private mutating func room(default name: String) -> String {
        top.read("room", "a name of at most 128 bytes without control characters") { value in
            guard let name = value.string, name.utf8.count <= 128,
                name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
            else { return nil }
            return name
        } ?? String(name.prefix(64))
    }

    private mutating func rooms(_ endpoint: Endpoint?) -> RoomsSettings? {
        if top.members["rooms"] == .null { return nil }
        let standard = endpoint == nil ? RoomsSettings(site: "home") : nil
        guard var inner = top.inner("rooms", "{site: 'home'}, or null for none") else { return standard }
        let level = { (json: JSONValue) in json.string.flatMap { TopicIdentifier.isIdentifier($0) ? $0 : nil } }
        let allowed = "1 to 64 of the characters A-Z, a-z, 0-9, _ and -"
        let site = inner.read("site", allowed, level) ?? "home"
        let instance = inner.read("instance", allowed, level)
        let days = Self.historyDays(&inner)
        // What `tags` and `gateways` hold, the rooms service reads itself.
        inner.refuseUnknown(known: ["site", "instance", "days", "tags", "gateways", "http"])
        let page = Self.statusPage(&inner, port: 8081)
        top.add(inner.problems)
        guard endpoint == nil else {
            warn("rooms", "no readings are published in mode 3; a rooms service needs an MQTT broker")
            return nil
        }
        return RoomsSettings(site: site, instance: instance, historyDays: days, statusPage: page)
    }

    /// The member `http` of `reader`; nil: there is to be no page.
    ///
    /// - Parameter port: Where it is served unless it says otherwise.
    private static func statusPage(_ reader: inout MemberReader, port: UInt16) -> ListenAddress? {
        // The one member for which null says something else than "default".
        if reader.members["http"] == .null { return nil }
        let standard = ListenAddress(host: "127.0.0.1", port: port)
        guard var inner = reader.inner("http", "{listen: '\(standard)'}, or null for none") else { return standard }
        let address = inner.read("listen", "an address with a port, such as \(standard) or [::1]:\(port)") {
            $0.string.flatMap { ListenAddress($0) }
        }
        inner.refuseUnknown(known: ["listen"])
        reader.add(inner.problems)
        return address ?? standard
    }

    private mutating func historyDays() -> Int { Self.historyDays(&top) ?? 30 }

    private static func historyDays(_ reader: inout MemberReader) -> Int? {
        reader.whole("days", -1...36_500, " (0 keeps none, -1 sets no limit by days)")
    }

    /// - Returns: nil for 0.
    private mutating func interval(
        _ name: String, _ unit: Duration, _ standard: Int, _ range: ClosedRange<Int64>, _ note: String
    ) -> Duration? {
        let count = top.whole(name, range, note) ?? standard
        return count == 0 ? nil : unit * count
    }

    private mutating func card() -> Card? {
        guard var inner = top.inner("card", "{name: 'Kitchen', face: 'base64 of a picture'}") else { return nil }
        let card = Card(name: inner.text("name"), face: inner.text("face"))
        inner.refuseUnknown(known: ["name", "face"])
        top.add(inner.problems)
        return card
    }
}
