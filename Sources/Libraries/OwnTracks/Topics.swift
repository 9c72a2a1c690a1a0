public import Base

/// The topics of one tracker.
///
/// OwnTracks' consumers subscribe to `owntracks/+/+` and below, so a base has three levels.
public struct Topics: Hashable, Sendable {
    /// Locations (retained) and the last will.
    @ExactString public private(set) var base: String

    /// - Throws: If the base is not allowed as a topic to publish to.
    public init(base: String) throws(TopicError) {
        guard !base.isEmpty else { throw TopicError(description: "the topic is empty") }
        // The longest suffix must fit too. MQTT 3.1.1, 1.5.3: a string has at most 65,535 bytes.
        guard base.utf8.count <= 65_000 else { throw TopicError(description: "the topic is longer than 65000 bytes") }
        for scalar in base.unicodeScalars {
            switch scalar {
            case "+", "#":
                throw TopicError(description: "'\(scalar)' is a wildcard and cannot be in a topic to publish to")
            case "\0"..."\u{1f}", "\u{7f}"..."\u{9f}":
                throw TopicError(description: "a control character cannot be in a topic")
            default: continue
            }
        }
        guard !base.hasPrefix("$") else {
            throw TopicError(description: "topics that begin with '$' belong to the broker")
        }
        guard !base.hasSuffix("/") else { throw TopicError(description: "a topic must not end with '/'") }
        self.base = base
    }

    private init(checked base: String) { self.base = base }

    /// A placeholder for a refused topic, until the refusal is reported.
    package static let placeholder = Topics(checked: "owntracks/user/device")

    /// Puts user and device into a template, as the phones do: `%u` and `%d`.
    public init(template: String, user: String, device: String) throws(TopicError) {
        var base = ""
        var isAfterPercent = false
        // One pass, not two replacements: a user called "%d" must not become the device.
        for character in template {
            switch (isAfterPercent, character) {
            case (true, "u"): base += user
            case (true, "d"): base += device
            case (true, _): base += "%\(character)"
            case (false, "%"): break
            case (false, _): base.append(character)
            }
            isAfterPercent = !isAfterPercent && character == "%"
        }
        if isAfterPercent { base += "%" }
        try self.init(base: base)
    }

    /// Transitions.
    public var event: String { base + "/event" }
    /// Commands to this tracker: the only topic that it reads.
    public var command: String { base + "/cmd" }
    /// The same of a tracker that has this base topic, or had it.
    package static func command(below base: String) -> String { Topics(checked: base).command }
    /// One region that was changed.
    public var waypoint: String { base + "/waypoint" }
    /// All regions, on request.
    public var waypoints: String { base + "/waypoints" }
    /// Ranging.
    public var beacon: String { base + "/beacon" }
    /// The state of the device, on request.
    public var status: String { base + "/status" }
    /// The settings in force, on request.
    public var dump: String { base + "/dump" }
    /// The card: a name and a face.
    public var info: String { base + "/info" }

    /// The number of levels. The Recorder and Home Assistant ignore topics with fewer than three.
    public var levels: Int { base.count { $0 == "/" } + 1 }

    /// The default tracker id of a device: the last two characters, upper case.
    public var trackerID: String { base.suffix(2).uppercased() }
}
