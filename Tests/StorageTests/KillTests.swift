import Foundation
import TestSupport
import Testing

@testable import Storage

/// A real process with a real store, killed at random.
@Suite struct KillTests {
    /// - Returns: What the process said before it was killed.
    private func runAndKill(_ directory: String, from number: Int, after milliseconds: Int) throws -> [String] {
        let process = Process()
        process.executableURL = Bundle.main.bundleURL.appendingPathComponent("StorageCrashChild")
        process.arguments = [directory, "\(number)"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        usleep(UInt32(milliseconds) * 1000)
        kill(process.processIdentifier, SIGKILL)
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.split(separator: "\n").map(String.init)
    }

    @Test func `killed forty times at random instants, the store has lost nothing and invented nothing`() throws {
        let directory = try TemporaryDirectory()
        var random = SplitMix64(seed: 9)
        var acknowledged: Set<Int> = []
        var seen = 0
        var opened = 0
        for round in 1...40 {
            let said = try runAndKill(directory.path, from: seen, after: .random(in: 5...250, using: &random))
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
        #expect(opened > 10)
        print("killed 40 times, \(opened) of them open; \(seen) transactions, lost 0, invented 0")
        #expect(seen > 100)
    }
}
