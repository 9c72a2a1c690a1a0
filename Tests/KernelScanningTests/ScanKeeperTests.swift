import Base
import Scanning
import Testing

@testable import KernelScanning

/// A keeper beside a controller, in virtual time. It carries out nothing: the test says what the controller does.
private struct KeptScan {
    var keeper = ScanKeeper()
    var evidence = ScanEvidence()
    var now = MonotonicInstant.zero
    var isConnected = false
    /// With the seconds at which they came.
    private(set) var effects: [(at: Double, effect: ScanKeeper.Effect)] = []

    init() throws {
        note(keeper.begin(evidence, at: now))
        try answers(.legacyEnable(1), 0)
    }

    mutating func answers(_ command: ScanCommand?, _ status: UInt8?) throws {
        let command = try #require(command)
        evidence.sent(command, at: now)
        note(keeper.learned(evidence, at: now) { [isConnected] in isConnected })
        guard let status else { return }
        evidence.answered(command.opcode, status: status, at: now)
        note(keeper.learned(evidence, at: now) { [isConnected] in isConnected })
    }

    /// Time passes. Each attempt to start the scan is answered with this status; nil: no attempt reaches the controller.
    mutating func wait(_ time: Duration, status: UInt8? = nil) throws {
        let end = now.advanced(by: time)
        while let due = [keeper.nextDeadline, evidence.nextDeadline].compactMap(\.self).min(), due <= end {
            now = max(now, due)
            evidence.elapsed(at: now)
            note(keeper.learned(evidence, at: now) { [isConnected] in isConnected })
            let new = keeper.elapsed(at: now) { [isConnected] in isConnected }
            note(new)
            if let status, new.contains(.startScan) { try answers(.legacyEnable(1), status) }
        }
        now = end
    }

    private mutating func note(_ new: [ScanKeeper.Effect]) {
        effects += new.map { ((now.nanoseconds / 1_000_000).asSeconds, $0) }
    }

    func times(_ wanted: ScanKeeper.Effect) -> [Double] { effects.filter { $0.effect == wanted }.map(\.at) }
    var resets: [Double] {
        effects.compactMap { if case .reset = $0.effect { $0.at } else { nil } }
    }
}

extension Int64 {
    fileprivate var asSeconds: Double { Double(self) / 1000 }
}

@Suite struct ScanKeeperTests {
    @Test func `A confirmed scan needs nothing`() throws {
        var kept = try KeptScan()
        #expect(kept.keeper.state == .confirmed)
        try kept.wait(.seconds(3600))
        #expect(kept.effects.isEmpty)
        #expect(kept.keeper.nextDeadline == nil)
    }

    @Test func `A pause is time without listening at once, and told after five seconds`() throws {
        var kept = try KeptScan()
        try kept.answers(.legacyEnable(0), 0)
        #expect(kept.keeper.state == .pausing)
        try kept.wait(.milliseconds(4999))
        #expect(kept.keeper.state == .pausing)
        try kept.wait(.milliseconds(1))
        #expect(kept.keeper.state == .silent)
        #expect(kept.keeper.objection == "the scan is switched off")
    }

    @Test func `A pause begins when the command is sent, and ends with the answer that the scan is on`() throws {
        var kept = try KeptScan()
        try kept.answers(.legacyEnable(0), nil)
        #expect(kept.keeper.state == .pausing)
        try kept.answers(.legacyEnable(1), 0)
        #expect(kept.keeper.state == .pausing, "the first command is still without an answer")
        var other = try KeptScan()
        try other.answers(.legacyEnable(0), 0)
        try other.answers(.legacyEnable(1), 0)
        #expect(other.keeper.state == .confirmed)
    }

    @Test func `A failure is told at once`() throws {
        var kept = try KeptScan()
        try kept.answers(.legacyEnable(1), 0x0c)
        #expect(kept.keeper.state == .silent)
    }

    @Test func `The scan is started again after one second, two, and then every four`() throws {
        var kept = try KeptScan()
        try kept.answers(.legacyEnable(0), 0)
        try kept.wait(.seconds(20))
        #expect(kept.times(.startScan) == [1, 3, 7, 11, 15, 19])
        #expect(kept.resets.isEmpty, "a pause resets nothing")
    }

    @Test func `The third failure in a row resets the controller, and then only at growing intervals`() throws {
        var kept = try KeptScan()
        try kept.answers(.legacyEnable(1), 0x0c)
        try kept.wait(.seconds(1300), status: 0x0c)
        // At the attempt after 5 s, 10 s, … 5 min.
        let intervals = zip(kept.resets, kept.resets.dropFirst()).map { $1 - $0 }
        #expect(kept.resets.first == 3)
        for (interval, least) in zip(intervals, [5.0, 10, 20, 40, 80, 160, 300, 300]) {
            #expect((least...least + 4).contains(interval), "\(intervals)")
        }
        #expect(intervals.count >= 8)
    }

    @Test func `Commands are few, whatever the controller answers`() throws {
        var kept = try KeptScan()
        try kept.answers(.legacyEnable(1), 0x0c)
        try kept.wait(.seconds(3600), status: 0x0c)
        #expect(kept.times(.startScan).count <= 3600 / 4 + 2)
    }

    @Test func `A command without an answer is a failure, too`() throws {
        var kept = try KeptScan()
        try kept.answers(.legacyEnable(1), nil)
        try kept.wait(.seconds(1))
        #expect(kept.keeper.state == .silent)
        #expect(kept.keeper.objection == "the controller does not answer the command to scan")
    }

    @Test func `A connection keeps the controller from being reset, which is told once`() throws {
        var kept = try KeptScan()
        kept.isConnected = true
        try kept.answers(.legacyEnable(1), 0x0c)
        try kept.wait(.seconds(600), status: 0x0c)
        #expect(kept.resets.isEmpty)
        #expect(kept.keeper.sparesConnection)
        #expect(kept.times(.sparesConnection).count == 1)
        kept.isConnected = false
        try kept.wait(.seconds(5), status: 0x0c)
        #expect(kept.resets.count == 1)
    }

    @Test func `After a scan that lasted the delays and the row of failures begin anew`() throws {
        var kept = try KeptScan()
        for round in 0..<3 {
            let begin = kept.now
            try kept.answers(.legacyEnable(1), 0x0c)
            try kept.wait(.seconds(2), status: 0)
            #expect(kept.times(.startScan).last == Double(begin.nanoseconds) / 1e9 + 1, "round \(round)")
            try kept.wait(.seconds(9))
        }
        #expect(kept.resets.isEmpty)
    }

    @Test func `A scan that is taken away again and again is not started again at once each time`() throws {
        var kept = try KeptScan()
        for _ in 0..<100 {
            try kept.answers(.legacyEnable(0), 0)
            try kept.wait(.seconds(4), status: 0)
        }
        #expect(kept.times(.startScan).count <= 101)
    }

    @Test func `A minute of scanning lets the resets begin anew`() throws {
        var kept = try KeptScan()
        try kept.answers(.legacyEnable(1), 0x0c)
        try kept.wait(.seconds(30), status: 0x0c)
        try kept.answers(.legacyEnable(1), 0)
        try kept.wait(.seconds(60))
        let count = kept.resets.count
        try kept.answers(.legacyEnable(1), 0x0c)
        try kept.wait(.seconds(12), status: 0x0c)
        #expect(kept.resets.count == count + 2)
    }

    @Test func `While no scan is set up nothing is decided`() throws {
        var kept = try KeptScan()
        kept.keeper.end(at: kept.now)
        try kept.answers(.legacyEnable(1), 0x0c)
        try kept.wait(.seconds(60))
        #expect(kept.effects.isEmpty)
        #expect(kept.keeper.nextDeadline == nil)
    }
}
