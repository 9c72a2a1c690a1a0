import Base
package import JSON
package import Regions

/// A message on `<base>/cmd`.
package enum Command: Hashable, Sendable {
    /// Publish the location now, with `t: "r"`.
    case reportLocation
    /// Publish all regions on `/waypoints`.
    case waypoints
    /// Merge these regions into the set.
    case setWaypoints(WaypointsReading)
    /// Forget all regions.
    case clearWaypoints
    /// Apply these settings, and the regions that came with them, if any. The object's members are for `RemoteSettings`.
    case setConfiguration(JSONValue, waypoints: WaypointsReading?)
    /// Publish the settings on `/dump`.
    case dump
    /// Publish the state of the device on `/status`.
    case status
}

extension Command {
    package var action: CommandAction {
        switch self {
        case .reportLocation: .reportLocation
        case .waypoints: .waypoints
        case .setWaypoints: .setWaypoints
        case .clearWaypoints: .clearWaypoints
        case .setConfiguration: .setConfiguration
        case .dump: .dump
        case .status: .status
        }
    }

    private static let unsupported = [
        "reportSteps": "a gateway does not count steps",
        "response": "a gateway does not use tours",
        "restart": "the service cannot be restarted remotely; systemd does that",
        "action": "a gateway has no screen to show a page on",
    ]

    /// Reads the payload of a message on `<base>/cmd`.
    ///
    /// - Parameter base: How numbers in region descriptions are read.
    package init(
        parsing payload: some Collection<UInt8>, base: NumberBase = .auto, limits: JSONLimits = JSONLimits()
    ) throws(CommandError) {
        let json = try mapError({ Self.malformed(payload, $0) }) { () throws(JSONError) in
            try JSONValue(parsing: payload, limits: limits)
        }
        try self.init(json, base: base)
    }

    /// Why a text is no JSON. The name of a command alone is a frequent one.
    private static func malformed(_ payload: some Collection<UInt8>, _ error: JSONError) -> CommandError {
        guard payload.count <= 64,
            let action = CommandAction(
                rawValue: String(decoding: payload.filter { !" \t\r\n\"'".utf8.contains($0) }, as: UTF8.self))
        else { return .malformed(error) }
        return .notWrapped("a word", as: action)
    }

    /// What a message is that is no command, and how it becomes one.
    private static func notACommand(_ members: [String: JSONValue]) -> CommandError {
        switch members["_type"]?.string {
        case "waypoints", "waypoint": return .notWrapped("a list of waypoints", as: .setWaypoints)
        case "configuration": return .notWrapped("a configuration", as: .setConfiguration)
        case "encrypted": return .encrypted
        default: break
        }
        if members["_type"] == nil, let action = members["action"]?.string.flatMap(CommandAction.init(rawValue:)) {
            return .notWrapped("an object whose _type is missing", as: action)
        }
        return .wrongType(members["_type"]?.shortened ?? "missing")
    }

    /// Reads the content of an encrypted message: one command or an array of commands. A bad command does not affect
    /// the others.
    ///
    /// - Parameter acceptsKeys: Whether regions may have keys, because the message was encrypted.
    package static func all(
        in plaintext: some Collection<UInt8>, base: NumberBase = .auto, limits: JSONLimits = JSONLimits(),
        acceptsKeys: Bool = false
    ) -> [Result<Command, CommandError>] {
        do throws(JSONError) {
            let json = try JSONValue(parsing: plaintext, limits: limits)
            return (json.array ?? [json]).map { element in
                Result { () throws(CommandError) in try Command(element, base: base, acceptsKeys: acceptsKeys) }
            }
        } catch {
            return [.failure(.malformed(error))]
        }
    }

    /// Reads the answer to a message over HTTP: an object or an array of objects. Locations and cards of friends mean
    /// nothing to a gateway. A bad command does not affect the others.
    ///
    /// - Parameter acceptsKeys: Whether regions may have keys, because the message was encrypted.
    package static func all(
        inAnswer json: JSONValue, base: NumberBase = .auto, acceptsKeys: Bool = false
    ) -> [Result<Command, CommandError>] {
        elements(inAnswer: json).map { element in
            Result { () throws(CommandError) in try Command(element, base: base, acceptsKeys: acceptsKeys) }
        }
    }

    /// The commands of an answer over HTTP, not read yet.
    package static func elements(inAnswer json: JSONValue) -> [JSONValue] {
        (json.array ?? [json]).filter { $0["_type"] == "cmd" }
    }

    /// - Parameter acceptsKeys: Whether the regions of `setWaypoints` may have keys, because the message was encrypted.
    package init(_ json: JSONValue, base: NumberBase = .auto, acceptsKeys: Bool = false) throws(CommandError) {
        guard let members = json.object else {
            if json.array?.first?["_type"] == "waypoint" { throw .notWrapped("a list of waypoints", as: .setWaypoints) }
            if let action = json.string.flatMap(CommandAction.init(rawValue:)) {
                throw .notWrapped("a word", as: action)
            }
            throw .notAnObject(json.kindName)
        }
        guard members["_type"] == "cmd" else { throw Self.notACommand(members) }
        guard let action = members["action"], action != .null else { throw .missingAction }
        guard let name = action.string else {
            throw .badArgument(action: "action", reason: "\(action.kindName) is not a string")
        }
        switch CommandAction(rawValue: name) {
        case .reportLocation: self = .reportLocation
        case .waypoints: self = .waypoints
        case .clearWaypoints: self = .clearWaypoints
        case .dump: self = .dump
        case .status: self = .status
        case .setWaypoints: self = .setWaypoints(try Self.waypoints(members, name, base, acceptsKeys: acceptsKeys))
        case .setConfiguration:
            guard let configuration = members["configuration"] else {
                throw .badArgument(action: name, reason: "configuration is missing")
            }
            guard configuration["_type"] == "configuration" else {
                let reason = "configuration is not an object with _type 'configuration'"
                throw .badArgument(action: name, reason: reason)
            }
            // Android accepts regions beside the configuration as well as inside it. The settings are stored and shown, so
            // that they have no keys.
            let waypoints =
                members["waypoints"] == nil ? nil : try Self.waypoints(members, name, base, acceptsKeys: false)
            self = .setConfiguration(configuration, waypoints: waypoints)
        case nil:
            if let reason = Self.unsupported[name] { throw .unsupportedAction(name, reason: reason) }
            throw .unknownAction(
                shortened(name),
                suggestion: Base.suggestion(for: name, among: CommandAction.allCases.map(\.rawValue)))
        }
    }

    /// The regions of a command; nil if it has none. Earlier apps called the argument `payload`.
    static func waypointsArgument(of command: JSONValue) -> JSONValue? {
        command["waypoints"] ?? command["payload"]
    }

    private static func waypoints(
        _ members: [String: JSONValue], _ action: String, _ base: NumberBase, acceptsKeys: Bool
    ) throws(CommandError) -> WaypointsReading {
        guard let argument = waypointsArgument(of: .object(members)) else {
            throw .badArgument(action: action, reason: "waypoints is missing")
        }
        return try mapError({ CommandError.badArgument(action: action, reason: $0.description) }) {
            () throws(WaypointsError) in
            try WaypointsReading(argument, base: base, acceptsKeys: acceptsKeys)
        }
    }
}

extension CommandAction {
    /// The message of this command, for a person.
    var envelope: String {
        let argument =
            switch self {
            case .setWaypoints: #","waypoints":{"_type":"waypoints","waypoints":[…]}"#
            case .setConfiguration: #","configuration":{"_type":"configuration",…}"#
            default: ""
            }
        return #"{"_type":"cmd","action":"\#(rawValue)"\#(argument)}"#
    }
}
