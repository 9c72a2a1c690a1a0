import Base
package import JSON
import Regions

/// What people have their waypoints in: a file of an app, a command, a dump, links, and lines of these.
package enum WaypointsEnvelope {
    /// A list of waypoints for `WaypointsReading`.
    ///
    /// - Parameter text: JSON5 of any of these kinds, or several of them in an array or on lines, with or without the topic or the time
    ///   that `mosquitto_sub` or the Recorder writes before each; a link `owntracks:///…`; or base64 of JSON.
    /// - Throws: What it is instead, and which command takes that.
    package static func list(in text: [UInt8]) throws(WaypointsError) -> JSONValue {
        guard !text.starts(with: "btsnoop\0".utf8) else {
            throw WaypointsError(description: "it is a capture of Bluetooth; 'ibeacon-gateway replay FILE' takes it")
        }
        if text.starts(with: [0x1f, 0x8b]) {
            throw WaypointsError(description: "it is compressed (gzip); unpack it first: zcat FILE > NEW-FILE")
        }
        var reason = "it is not a link of OwnTracks"
        let lines = text.split { $0 == 0x0a || $0 == 0x0d }.filter { !$0.allSatisfy(\.isBlank) }
        if lines.first?.starts(with: OwnTracksLink.scheme.utf8) != true {
            switch Result(catching: { () throws(JSONError) in try JSONValue(parsing: text, dialect: .json5) }) {
            case .success(let json):
                return try list(in: json)
            case .failure(let error): reason = "it is not JSON: \(error)"
            }
        }
        if let list = try list(onLines: lines) { return list }
        guard let bytes = Base64.bytes(text), let json = try? JSONValue(parsing: bytes) else {
            if let line = lines.first.map({ String(decoding: $0, as: UTF8.self) }),
                (try? RegionDescription(parsing: line))?.pattern != nil
            {
                throw WaypointsError(description: "it is a description; 'ibeacon-gateway regions add' takes one")
            }
            throw WaypointsError(description: reason)
        }
        return try list(in: json)
    }

    /// - Returns: nil if a line holds neither JSON nor a link.
    private static func list(onLines lines: [ArraySlice<UInt8>]) throws(WaypointsError) -> JSONValue? {
        guard !lines.isEmpty else { return nil }
        var elements: [JSONValue] = []
        for line in lines {
            guard let json = try value(of: line) else { return nil }
            elements.append(json)
        }
        return try list(of: elements, isOnLines: true)
    }

    /// The waypoints of a message, or of an array of messages.
    private static func list(in json: JSONValue) throws(WaypointsError) -> JSONValue {
        guard let elements = json.array else { return try content(of: json) }
        return try list(of: elements)
    }

    /// The waypoints of several messages. Those that have none, such as locations, are left out, unless there is nothing else.
    private static func list(of elements: [JSONValue], isOnLines: Bool = false) throws(WaypointsError) -> JSONValue {
        var waypoints: [JSONValue] = []
        var fault: WaypointsError?
        for (index, element) in elements.enumerated() {
            do throws(WaypointsError) {
                guard !(element["_type"]?.string.map(otherMessages.contains) ?? false) else {
                    throw WaypointsError(
                        description: "_type is \(element["_type"]?.shortened ?? ""); expected 'waypoints'")
                }
                let content = try content(of: element)
                waypoints += content.array ?? content["waypoints"]?.array ?? [content]
            } catch {
                let place = isOnLines ? "line \(index + 1)" : "element \(index)"
                fault = fault ?? WaypointsError(description: "\(place): \(error)")
            }
        }
        if waypoints.isEmpty, let fault { throw fault }
        return .array(waypoints)
    }

    /// Messages of OwnTracks without waypoints.
    private static let otherMessages: Set = [
        "beacon", "card", "location", "lwt", "request", "status", "steps", "transition",
    ]

    private static func value(of line: ArraySlice<UInt8>) throws(WaypointsError) -> JSONValue? {
        if line.starts(with: OwnTracksLink.scheme.utf8) {
            let link = String(decoding: line, as: UTF8.self)
            return try OwnTracksLink.json(link.prefix { $0 != " " && $0 != "\t" && $0 != "\r" })
        }
        if let json = try? JSONValue(parsing: line) { return json }
        // A topic or a time before it. A topic has no blank here.
        for begin in [line.firstIndex(of: UInt8(ascii: " ")), line.firstIndex(of: UInt8(ascii: "{"))] {
            if let begin, let json = try? JSONValue(parsing: line[begin...]) { return json }
        }
        return nil
    }

    /// The message in an object that names its topic, too, as `mosquitto_sub -F %j` and Node-RED write it; nil if it is none.
    private static func inner(of json: JSONValue) -> JSONValue? {
        guard json["_type"] == nil, json["topic"]?.string != nil, let payload = json["payload"] else { return nil }
        guard let text = payload.string else { return payload }
        return try? JSONValue(parsing: text)
    }

    /// The waypoints of a command, a dump or a configuration; any other JSON as it is.
    private static func content(of json: JSONValue) throws(WaypointsError) -> JSONValue {
        if let inner = inner(of: json) { return try content(of: inner) }
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
