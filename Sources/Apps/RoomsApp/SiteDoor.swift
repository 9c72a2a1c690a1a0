import Base
import Configuration
import Rooms
import Shell
import SiteProtocol

/// Decrypts the messages of the site, and records the gateways whose messages cannot be decrypted.
///
/// Any client may publish without the key. So a gateway is named only if none of its messages could be decrypted
/// recently, and the number of names is bounded.
struct SiteDoor {
    /// A gateway with a decrypted message within this time is not named: another client uses its name.
    private static let trust: Duration = .seconds(25)

    let seal: SiteSeal
    /// Number of refused messages: they cannot be decrypted, or are plain although the site has a key.
    private(set) var refused: UInt64 = 0
    /// Gateways whose messages cannot be decrypted.
    private(set) var unreadable: Set<String> = []
    /// The same in the order in which they were found. In a full table the first gives way.
    private var unreadableOrder: [String] = []
    /// When a message of a gateway was last decrypted. In a full table the one that is longest ago gives way.
    private var understood: [String: MonotonicInstant] = [:]

    init(_ configuration: Configuration) { seal = SiteSeal(configuration.rooms) }

    /// Decrypts a message of the site.
    mutating func open(
        _ payload: [UInt8], of topic: RoomTopic, at now: MonotonicInstant
    ) throws(SealError) -> [UInt8] {
        // Without a key, nearly all messages are taken as they are.
        guard seal.isOn || !unreadable.isEmpty || SiteSeal.isSealed(payload) else { return payload }
        do throws(SealError) {
            let opened = try seal.opened(payload, of: topic)
            record(topic, isEmpty: opened.isEmpty, at: now)
            return opened
        } catch {
            refused += 1
            recordRefusal(topic, at: now)
            throw error
        }
    }

    /// - Parameter isEmpty: Whether the message deletes another one, which any client can do.
    private mutating func record(_ topic: RoomTopic, isEmpty: Bool, at now: MonotonicInstant) {
        guard let gateway = topic.sendingGateway else { return }
        if !isEmpty {
            if understood[gateway] == nil, understood.count >= RoomEngine.mostGateways,
                let oldest = understood.min(by: { $0.value < $1.value })
            {
                understood[oldest.key] = nil
            }
            understood[gateway] = now
        }
        if unreadable.remove(gateway) != nil { unreadableOrder.removeAll { $0 == gateway } }
    }

    private mutating func recordRefusal(_ topic: RoomTopic, at now: MonotonicInstant) {
        guard let gateway = topic.sendingGateway else { return }
        if let last = understood[gateway], last.duration(to: now) < Self.trust { return }
        guard unreadable.insert(gateway).inserted else { return }
        unreadableOrder.append(gateway)
        if unreadableOrder.count > RoomEngine.mostGateways { unreadable.remove(unreadableOrder.removeFirst()) }
    }
}
