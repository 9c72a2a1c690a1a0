import Base
import Beacon
import Foundation
import Regions
import Synchronization

@testable import Storage

/// A directory that goes with the test.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var database: String { path + "/state.db" }

    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    /// Puts the same files into another directory, as they are at this instant.
    func copy() throws -> TemporaryDirectory {
        let copy = try TemporaryDirectory()
        for name in names {
            try FileManager.default.copyItem(atPath: "\(path)/\(name)", toPath: "\(copy.path)/\(name)")
        }
        return copy
    }
}

/// Time that moves when the test says so; safe to read from the store's thread.
final class TestClock: Sendable {
    private let value = Mutex(MonotonicInstant(nanoseconds: 1_000_000_000_000))
    var now: MonotonicInstant { value.withLock { $0 } }
    func advance(by duration: Duration) { value.withLock { $0 = $0.advanced(by: duration) } }
}

/// Renders `happened` (and `~` if estimated) in place of `?`.
@Sendable func renderTime(_ restamp: Restamp) -> [UInt8]? {
    let text = String(decoding: restamp.publication.payload, as: UTF8.self)
    guard text != "no time" else { return nil }
    let time = (restamp.isEstimated ? "~" : "") + "\(restamp.happened)"
    return Array(text.replacingOccurrences(of: "?", with: time).utf8)
}

/// The store without its thread: requests in, events out, time by hand.
final class Harness {
    let clock: TestClock
    var settings: StoreSettings
    private(set) var worker: StoreWorker
    private var mailbox: StoreMailbox
    private(set) var events: [StoreEvent] = []

    init(
        _ directory: String, boot: String = "boot-1", clock: TestClock = TestClock(),
        _ adjust: (inout StoreSettings) -> Void = { _ in }
    ) {
        self.clock = clock
        var settings = StoreSettings(directory: directory, boot: boot, now: { clock.now }, restamp: renderTime)
        adjust(&settings)
        self.settings = settings
        worker = StoreWorker(settings)
        mailbox = StoreMailbox(settings)
    }

    /// Sends requests and lets the store work once.
    @discardableResult
    func send(_ requests: StoreRequest...) -> [StoreEvent] {
        for request in requests { mailbox.append(request) }
        let new = worker.step(mailbox.drain(withCommit: worker.takesCommits), at: clock.now)
        events += new
        return new
    }

    /// Waits without work in the store's thread, then lets it do what is due.
    @discardableResult
    func pass(_ duration: Duration) -> [StoreEvent] {
        clock.advance(by: duration)
        return send()
    }

    /// Opens the store where another one of this process has just gone.
    ///
    /// A test beside this one may be starting a process: its copy of our descriptors, until it becomes
    /// the other program, holds the directory's lock a moment longer.
    func begin() {
        send()
        let end = ContinuousClock.now + .seconds(90)
        while events.opened == nil, ContinuousClock.now < end {
            guard case .inUse? = events.unavailable.last?.error else { return }
            usleep(100)
            pass(.seconds(1))
        }
        events.removeAll { if case .unavailable = $0 { true } else if case .recovered = $0 { true } else { false } }
    }

    /// Ends in order.
    func stop() {
        send(.stop)
        while !worker.isFinished { send() }
    }

    var snapshot: StoreSnapshot? { events.opened }

    /// How many commits are on the disk.
    var commits: UInt64 { worker.counters.commits }
}

extension [StoreEvent] {
    var opened: StoreSnapshot? {
        for case .opened(let snapshot) in self { return snapshot }
        return nil
    }
    var delivered: [OutboxRow] {
        flatMap { if case .deliver(let rows, _) = $0 { rows } else { [OutboxRow]() } }
    }
    /// Of each failed transaction, whether it is tried again.
    var failed: [Bool] {
        compactMap { if case .failed(_, let willRetry) = $0 { willRetry } else { nil } }
    }
    var notices: [String] {
        compactMap { if case .notice(let notice) = $0 { notice.text } else { nil } }
    }
    var troubles: [StoreFailure] {
        compactMap { if case .troubled(let failure) = $0 { failure } else { nil } }
    }
    var unavailable: [StoreFailure] {
        compactMap { if case .unavailable(let failure) = $0 { failure } else { nil } }
    }
    var recoveries: [Duration] {
        compactMap { if case .recovered(let after) = $0 { after } else { nil } }
    }
    var edits: [RegionEdit] {
        flatMap { if case .regionEdits(let edits) = $0 { edits } else { [RegionEdit]() } }
    }
    var isStateLost: Bool { contains { if case .stateLost = $0 { true } else { false } } }
    /// Of a store that has stopped, how many commits are lost.
    var unsaved: Int? {
        for case .stopped(let unsaved) in self { return unsaved }
        return nil
    }
    var isStopped: Bool { contains { if case .stopped = $0 { true } else { false } } }
}

func message(
    _ text: String, topic: String = "owntracks/gw/hall/event", kind: Publication.Kind = .transition,
    stamp: WallStamp = .exact, at happened: MonotonicInstant = .zero
) -> Publication {
    Publication(
        kind, of: "owntracks/gw/hall", topic: topic, payload: Array(text.utf8), isRetained: kind == .state,
        happened: happened, stamp: stamp)
}

extension OutboxRow {
    var text: String { publication.text }
}

let beacon = BeaconID(uuid: BeaconUUID(high: 0xe2c5_6db5_dffb_48d2, low: 0xb060_d0f5_a710_96e0), major: 7, minor: 9)

func entry(
    _ name: String, _ event: PastTransition.Event = .enter, at timestamp: Int64 = 1_700_000_000,
    stamp: WallStamp = .exact, happened: MonotonicInstant = .zero
) -> PastTransition {
    PastTransition(
        tracker: "owntracks/gw/hall", rid: "rid-\(name)", name: name, event: event, beacon: beacon,
        timestamp: timestamp, stamp: stamp, happened: happened)
}

func region(_ name: String, rid: String? = nil) -> Region {
    Region(
        rid: rid ?? "rid-\(name)",
        description: RegionDescription(name: name, pattern: BeaconPattern(uuid: beacon.uuid, major: 7)),
        timestamp: 1_600_000_000)
}

func presence(_ bytes: [UInt8]) -> PresenceRecord {
    PresenceRecord(version: 3, state: bytes, savedAt: MonotonicInstant(nanoseconds: 5))
}

extension PresenceRecord {
    /// The whole or, if there are any, the last change.
    var latest: [UInt8] { changes.last ?? state }
}

/// So that the tests themselves need no Foundation.
enum FileManagerShim {
    static func makeDirectory(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    static func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: path) }

    static func bytes(of path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }
}

extension FileManagerShim {
    static func mode(of path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? -1
    }
}
