import Foundation
import TestSupport
import Testing

@testable import Storage

/// A real process with a real store, killed at random.
@Suite struct KillTests {
    private func start(_ directory: String, from number: Int) throws -> (Process, output: Pipe) {
        let process = Process()
        process.executableURL = Bundle.main.bundleURL.appendingPathComponent("StorageCrashChild")
        process.arguments = [directory, "\(number)"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        return (process, output)
    }

    /// How long this machine takes to start the process and to open the store. An emulated one takes seconds, and instants
    /// that do not depend on it would all lie before that.
    private func timeToOpen(_ directory: String) throws -> Duration {
        let clock = ContinuousClock()
        return try clock.measure {
            let (process, output) = try start(directory, from: 0)
            // The first line is "o", or nothing comes any more.
            _ = output.fileHandleForReading.availableData
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }

    /// - Parameter ofWriting: Whether the delay begins when the process has written for the first time, and not when it is started.
    /// - Returns: What the process said before it was killed.
    private func runAndKill(
        _ directory: String, from number: Int, after delay: Duration, ofWriting: Bool
    ) throws -> [String] {
        let (process, output) = try start(directory, from: number)
        var said = Data()
        while ofWriting, !said.contains(UInt8(ascii: "c")) {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { break }
            said += more
        }
        usleep(UInt32(delay / .microseconds(1)))
        kill(process.processIdentifier, SIGKILL)
        said += output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: said, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test func `killed forty times at random instants, the store has lost nothing and invented nothing`() throws {
        let directory = try TemporaryDirectory()
        var random = SplitMix64(seed: 9)
        var acknowledged: Set<Int> = []
        var seen = 0
        var opened = 0
        let opening = try timeToOpen(TemporaryDirectory().path)
        for round in 1...40 {
            // Each second time it is killed while it writes. Else at any instant, which on a busy machine may always lie before
            // the store is open.
            let ofWriting = round.isMultiple(of: 2)
            let delay = ofWriting ? .zero : opening * Double.random(in: 0...2, using: &random)
            // Short: each start reads and checks all that was written before.
            let said = try runAndKill(
                directory.path, from: seen, after: delay + .milliseconds(.random(in: 5...60, using: &random)),
                ofWriting: ofWriting)
            opened += said.contains("o") ? 1 : 0
            #expect(!said.contains { $0.hasPrefix("u") }, "round \(round): \(said.prefix(3))")
            let committed = said.filter { $0.hasPrefix("c ") }.compactMap { Int($0.dropFirst(2)) }
            acknowledged.formUnion(said.filter { $0.hasPrefix("a ") }.compactMap { Int($0.dropFirst(2)) })

            let store = Harness(directory.path, boot: "boot")
            store.begin()
            store.send(.window(1_000_000))
            #expect(store.events.notices.isEmpty, "round \(round)")
            let state = store.snapshot?.presence.map { String(decoding: $0.latest, as: UTF8.self) } ?? "0"
            let last = try #require(Int(state))
            #expect(last >= committed.max() ?? seen, "round \(round)")
            let waiting = store.events.delivered.compactMap { Int($0.text) }
            #expect(waiting == waiting.sorted(), "round \(round)")
            #expect(Set(waiting).count == waiting.count, "round \(round)")
            #expect(waiting.last ?? 0 <= last, "round \(round)")
            // The end of a line may be missing: an acknowledgement that was asked for and not said.
            let missing = Set(1...max(1, last)).subtracting(waiting).subtracting(acknowledged)
            #expect(last == 0 || missing.isEmpty, "round \(round): \(missing.sorted())")
            store.stop()
            seen = last
        }
        #expect(opened >= 20)
        print("killed 40 times, \(opened) of them open; \(seen) transactions, lost 0, invented 0")
        #expect(seen >= 20)
    }
}
