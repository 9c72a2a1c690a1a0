import Base
import Gateway

/// The descriptions and states of a gateway under device names that it had before. Home Assistant would keep their entities for
/// ever, and nobody else can tell that they are of the past.
///
/// Another gateway may have such a name now, and then all of it belongs to that one. Its availability shows it: this
/// gateway's is `offline` under a name that it no longer has.
struct FormerDevices: Sendable {
    /// After this time on a connection the broker has sent what it retains.
    static let settling: Duration = .seconds(5)
    /// A will comes late: after this time, a device that is still online is another gateway's.
    static let patience: Duration = .seconds(120)

    private struct Found: Sendable {
        /// Payloads by topic.
        var descriptions: [ExactString: String] = [:]
        var isOnline = false
    }

    private let prefix: String
    private var found: [ExactString: Found]
    /// When the connection was first seen; nil: not yet.
    private var since: MonotonicInstant?

    init(_ settings: HomeAssistantFeed.Settings) {
        prefix = settings.prefix
        found = Dictionary(settings.formerDevices.map { (ExactString($0), Found()) }) { first, _ in first }
    }

    var isEmpty: Bool { found.isEmpty }

    var subscriptions: [String] {
        found.keys.sorted().flatMap { device in
            [
                DiscoveryTopics(prefix: prefix, device: device.text).descriptions,
                DeviceTopics.availability(device: device.text),
            ]
        }
    }

    mutating func connected() { since = nil }

    /// - Returns: Whether the message is about a former device.
    mutating func received(topic: String, payload: String, isRetained: Bool) -> Bool {
        for device in found.keys {
            if topic.hasSameBytes(as: DeviceTopics.availability(device: device.text)) {
                found[device]?.isOnline = payload == "online"
                return true
            }
            guard DiscoveryTopics(prefix: prefix, device: device.text).isDescription(topic) else { continue }
            let count = found[device]?.descriptions.count ?? 0
            if isRetained, !payload.isEmpty, count < HomeAssistantFeed.strangeLimit {
                found[device]?.descriptions[ExactString(topic)] = payload
            }
            return true
        }
        return false
    }

    /// What is to be removed now, once for each device.
    ///
    /// - Returns: The descriptions, payloads by topic; the topics of states that no description names; and the devices that are
    ///   done with.
    mutating func due(at now: MonotonicInstant) -> (
        descriptions: [ExactString: String], states: [ExactString], finished: [String]
    ) {
        let since = self.since ?? now
        self.since = since
        let age = since.duration(to: now)
        guard !found.isEmpty, age >= Self.settling else { return ([:], [], []) }
        var descriptions: [ExactString: String] = [:]
        var (states, finished): ([ExactString], [String]) = ([], [])
        for (device, content) in found.sorted(by: { $0.key < $1.key }) {
            guard !content.isOnline || age >= Self.patience else { continue }
            found[device] = nil
            finished.append(device.text)
            guard !content.isOnline else { continue }
            descriptions.merge(content.descriptions) { first, _ in first }
            states += [
                ExactString(DeviceTopics.gateway(device: device.text)),
                ExactString(DeviceTopics.availability(device: device.text)),
            ]
        }
        return (descriptions, states, finished)
    }
}
