import Base
package import JSON

/// What people have their waypoints in: a file of an app, a command, a dump, links, and lines of these.
package enum WaypointsEnvelope {
    /// A list of waypoints for `WaypointsReading`.
    ///
    /// - Parameter text: JSON5 of any of these kinds, or several of them on lines, with or without the topic that
    ///   `mosquitto_sub -v` prints before each; a link `owntracks:///…`; or base64 of JSON.
    /// - Throws: What it is instead, and which command takes that.
    package static func list(in text: [UInt8]) throws(WaypointsError) -> JSONValue {
        guard !text.starts(with: "btsnoop\0".utf8) else {
            throw WaypointsError(description: "it is a capture of Bluetooth; 'ibeacon-gateway replay FILE' takes it")
        }
        var reason = "it is not a link of OwnTracks"
        let lines = text.split { $0 == 0x0a || $0 == 0x0d }.filter { !$0.allSatisfy(\.isBlank) }
        if lines.first?.starts(with: OwnTracksLink.scheme.utf8) != true {
            switch Result(catching: { () throws(JSONError) in try JSONValue(parsing: text, dialect: .json5) }) {
            case .success(let json): return try content(of: json)
            case .failure(let error): reason = "it is not JSON: \(error)"
            }
        }
        if let list = try list(onLines: lines) { return list }
        guard let bytes = Base64.bytes(text), let json = try? JSONValue(parsing: bytes) else {
            throw WaypointsError(description: reason)
        }
        return try content(of: json)
    }

    /// - Returns: nil if a line holds neither JSON nor a link.
    private static func list(onLines lines: [ArraySlice<UInt8>]) throws(WaypointsError) -> JSONValue? {
        guard !lines.isEmpty else { return nil }
        var elements: [JSONValue] = []
        for (index, line) in lines.enumerated() {
            guard let json = try value(of: line) else { return nil }
            do throws(WaypointsError) {
                let content = try content(of: json)
                elements += content.array ?? content["waypoints"]?.array ?? [content]
            } catch {
                throw WaypointsError(description: "line \(index + 1): \(error)")
            }
        }
        return .array(elements)
    }

    private static func value(of line: ArraySlice<UInt8>) throws(WaypointsError) -> JSONValue? {
        if line.starts(with: OwnTracksLink.scheme.utf8) {
            let link = String(decoding: line, as: UTF8.self)
            return try OwnTracksLink.json(link.prefix { $0 != " " && $0 != "\t" && $0 != "\r" })
        }
        if let json = try? JSONValue(parsing: line) { return json }
        // A topic has no blank here.
        guard let blank = line.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        return try? JSONValue(parsing: line[blank...])
    }

    /// The waypoints of a command, a dump or a configuration; any other JSON as it is.
    private static func content(of json: JSONValue) throws(WaypointsError) -> JSONValue {
        guard let type = json["_type"]?.string else { return json }
        switch type {
        case "cmd":
            let action = json["action"]?.string ?? ""
            if let waypoints = Command.waypointsArgument(of: json) { return waypoints }
            if let configuration = json["configuration"] { return try content(of: configuration) }
            throw WaypointsError(
                description: "it is the command '\(JSON.shortened(action))', which has no waypoints; "
                    + "'mosquitto_pub -t TOPIC/cmd -f FILE' sends it")
        case "dump":
            guard let configuration = json["configuration"] else { return json }
            return try content(of: configuration)
        case "configuration":
            guard let waypoints = json["waypoints"], waypoints != .null else {
                throw WaypointsError(
                    description:
                        "it is a configuration without waypoints; 'ibeacon-gateway --config FILE config check' checks it"
                )
            }
            return waypoints
        case "encrypted":
            throw WaypointsError(description: "it is encrypted; a gateway with the key takes it on its topic /cmd")
        default: return json
        }
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 }
}
