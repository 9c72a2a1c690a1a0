import Base
import SiteCore
import SiteProtocol
import Testing

/// Messages that cannot be read are counted, and their topics are named.
@Suite struct MalformedMessagesTests {
    private var site = SiteHarness(SiteSettings())

    private mutating func receive(_ topic: String, _ reason: String = "not JSON", at second: Double) {
        let instant = MonotonicInstant.zero.advanced(by: .seconds(second))
        _ = site.handle(.malformed(FeedError(reason), topic: topic), at: instant)
    }

    @Test mutating func `A topic is named with what is wrong, how often, and when last`() {
        receive("espresense/devices/iBeacon:x-1-7/hall", at: 1)
        receive("espresense/devices/iBeacon:x-1-7/hall", "'rssi' is not a level in dBm", at: 5)
        let topics = site.core.malformed.topics
        #expect(topics.map(\.name) == ["espresense/devices/iBeacon:x-1-7/hall"])
        #expect(topics.map(\.reason) == ["'rssi' is not a level in dBm"])
        #expect(topics.map(\.count) == [2] && topics.map(\.last) == [.zero.advanced(by: .seconds(5))])
    }

    @Test
    mutating func `Of more topics than have a place, the one that was silent for longest gives way; all are counted`() {
        for number in 0..<MalformedMessages.most { receive("espresense/devices/\(number)/hall", at: Double(number)) }
        receive("espresense/devices/0/hall", at: 100)
        receive("espresense/devices/new/hall", at: 101)
        let names = site.core.malformed.topics.map(\.name)
        #expect(
            names.count == MalformedMessages.most && site.core.malformed.count == UInt64(MalformedMessages.most + 2))
        #expect(names.contains("espresense/devices/0/hall") && names.contains("espresense/devices/new/hall"))
        #expect(!names.contains("espresense/devices/1/hall"))
    }

    @Test mutating func `A topic of any length is named by its beginning`() {
        receive("espresense/devices/" + String(repeating: "x", count: 65_000) + "/hall", at: 1)
        #expect(site.core.malformed.topics.map(\.name.count) == [161])
    }

    @Test(arguments: [("online", true), ("\"offline\"", false), ("", nil)] as [(String, Bool?)])
    func `The status of a node is read`(payload: String, isAvailable: Bool?) throws {
        let message = try SiteMessage(.espresenseStatus(node: "hall"), Array(payload.utf8))
        #expect(message == .available(gateway: "hall", isAvailable))
    }

    @Test func `A status of a node that says neither is refused`() {
        #expect(throws: FeedError("it is neither 'online' nor 'offline'")) {
            try SiteMessage(.espresenseStatus(node: "hall"), Array("maybe".utf8))
        }
    }
}
