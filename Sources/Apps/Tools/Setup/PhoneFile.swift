import Base
import Configuration
import JSON
import OwnTracks
import Regions
import System

/// The configuration that an app of OwnTracks exports (`.otrc`). Broker, login and waypoints are taken. What names the phone is
/// not: a second client with its client id would end its connection, and its topic is the phone's place on the map.
struct PhoneFile {
    private(set) var origin = SetupOrigin()
    /// What was taken and what was not, for the user.
    private(set) var remarks: [String] = []

    /// Members that name the phone, or the topics that are its own.
    private static let identity = ["clientId", "deviceId", "tid", "pubTopicBase", "willTopic", "encryptionKey"]
    /// Members that name certificates, which are in the phone's own store.
    private static let certificates = ["clientpkcs", "tlsClientCrt", "tlsCaCrt", "servercer"]

    /// - Parameters:
    ///   - path: The file's, for messages.
    ///   - needsBroker: Whether the broker of the file is to be used.
    ///   - storesRegions: Whether the waypoints become regions.
    /// - Returns: nil if the file is no JSON.
    /// - Throws: If it is another kind of JSON, or has no broker that speaks MQTT.
    init?(_ bytes: [UInt8], path: String, needsBroker: Bool, storesRegions: Bool) throws(Failure) {
        // YAML in its flow style begins with a brace too, so only JSON as a whole is of an app.
        guard let json = try? JSONValue(parsing: bytes, dialect: .json5), let type = json["_type"]?.string else {
            return nil
        }
        guard type == "configuration" else {
            throw Failure(
                .badData,
                "\(path) is not the configuration of an app: its _type is '\(JSON.shortened(type))'; nothing was written"
            )
        }
        let broker = try Self.broker(json, path)
        if needsBroker, broker == nil {
            throw Failure(.badData, "\(path) names no broker; name it with --host; nothing was written")
        }
        origin.broker = broker
        if json["auth"]?.asBool != false {
            origin.username = json["username"]?.string.flatMap { $0.isEmpty ? nil : $0 }
            let password = json["usePassword"]?.asBool == false ? nil : json["password"]?.string
            if let password, !password.isEmpty, password != Secret.mask { origin.password = Secret(password) }
        }
        try readWaypoints(json, path)
        let count = origin.regions.count
        if !storesRegions, count > 0 {
            remarks.append(
                "Not taken, because --config-only stores no regions: \(counted(count, "waypoint")). Afterwards: "
                    + "sudo ibeacon-gateway regions import \(ShellWord.of(path))")
        }
        tell(json, regionCount: storesRegions ? count : 0)
    }

    private static func broker(_ json: JSONValue, _ path: String) throws(Failure) -> SetupOrigin.BrokerAddress? {
        guard json["mode"]?.asInteger != 3, json["ws"]?.asBool != true else {
            let way = json["ws"]?.asBool == true ? "by WebSockets" : "over HTTP (mode 3)"
            throw Failure(
                .badData,
                "the phone of \(path) sends \(way), and setup needs a broker for MQTT; nothing was written")
        }
        guard let text = json["host"]?.string, !text.isEmpty else { return nil }
        let host = try mapError({ Failure(.badData, "\(path): host: \($0.reason); nothing was written") }) {
            () throws(BrokerHost.Problem) in try BrokerHost(text)
        }
        let usesTLS = host.tls ?? json["tls"]?.asBool ?? false
        let port = host.port.map(Int64.init) ?? json["port"]?.asNumber.map { Int64(saturating: $0) }
        return SetupOrigin.BrokerAddress(
            host: host.name, port: port.flatMap(UInt16.init(exactly:)) ?? (usesTLS ? 8883 : 1883), usesTLS: usesTLS)
    }

    private mutating func readWaypoints(_ json: JSONValue, _ path: String) throws(Failure) {
        guard let waypoints = json["waypoints"], waypoints.array?.isEmpty == false else { return }
        let reading = try mapError({ Failure(.badData, "\(path): waypoints: \($0); nothing was written") }) {
            () throws(WaypointsError) in try WaypointsReading(waypoints)
        }
        origin.regions = reading.changes
        origin.coordinates = Self.home(in: reading.changes)
        remarks += reading.problems.map { "A waypoint is not taken: \($0)" }
    }

    /// The centre of the circle that is named Home; without one, of the only circle.
    static func home(in changes: [RegionChange]) -> Coordinates? {
        let circles = changes.compactMap { change -> Region? in
            guard case .set(let region, _) = change, region.kind == .circular else { return nil }
            return region
        }
        let home = circles.first { $0.displayName.lowercased() == "home" } ?? (circles.count == 1 ? circles[0] : nil)
        return home?.coordinates
    }

    private mutating func tell(_ json: JSONValue, regionCount count: Int) {
        var taken: [String] = []
        if let broker = origin.broker { taken.append("the broker \(broker.host):\(broker.port)") }
        if let username = origin.username { taken.append("the login '\(username)'") }
        if count > 0 { taken.append(count == 1 ? "1 waypoint" : "\(count) waypoints") }
        if origin.coordinates != nil { taken.append("the place of its home") }
        remarks.insert("Taken from the phone: \(taken.isEmpty ? "nothing" : taken.joined(separator: ", ")).", at: 0)
        let own = Self.identity.filter { name in
            guard let value = json[name], value != .null, value != "" else { return false }
            // A template names nobody.
            return name != "pubTopicBase" || value.string?.hasPart("%d") != true
        }
        if !own.isEmpty {
            remarks.append("Not taken, because they are the phone's own: \(own.joined(separator: ", ")).")
        }
        let certificates = Self.certificates.filter { json[$0].map { $0 != .null && $0 != "" } == true }
        if !certificates.isEmpty {
            remarks.append(
                "Not taken, because they are in the phone's store: \(certificates.joined(separator: ", ")); "
                    + "give the broker's authority with --ca-file.")
        }
    }
}
