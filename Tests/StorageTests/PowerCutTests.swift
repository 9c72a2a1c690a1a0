import Regions
import Testing

@testable import Storage

/// The power goes at each single write, truncation and sync of a run, and what was not synced is lost
/// wholly or in part.
@Suite struct PowerCutTests {
    /// What the run was told before the lights went out.
    private struct Told {
        var committed = 0
        var tried = 0
        var acknowledged: Set<Int> = []
    }

    /// Thirty transitions; each commit carries the count as presence state, whole or changed, and one history entry.
    private func run(in directory: String, on disk: FaultySQLite) -> Told {
        let store = Harness(directory) {
            $0.vfs = disk.name
            // Often, so that cuts fall into it.
            $0.acknowledgementDelay = .seconds(3)
        }
        var told = Told()
        store.begin()
        store.send(.window(4))
        for number in 1...30 where !disk.isDead {
            told.tried = number
            let events = store.send(
                .commit([
                    number % 8 == 1
                        ? .presence(presence([UInt8(number)])) : .presenceChange([UInt8(number)]),
                    .history(entry("\(number)", at: Int64(number))),
                    .message(message("\(number)")),
                ]))
            told.committed = Int(store.commits)
            for row in events.delivered where Int(row.text).map({ $0.isMultiple(of: 2) }) ?? false {
                told.acknowledged.insert(Int(row.text) ?? 0)
                store.send(.acknowledged(row.id))
            }
            store.clock.advance(by: .seconds(1))
        }
        if !disk.isDead { store.stop() }
        return told
    }

    @Test func `without a cut the run works, and shows how many operations there are to cut at`() throws {
        let directory = try TemporaryDirectory()
        let disk = FaultySQLite()
        let told = run(in: directory.path, on: disk)
        #expect(told.committed == 30)
        #expect(disk.operations > 100)
    }

    @Test(arguments: 1...4)
    func `whenever the power goes, what was committed is there, whole, and nothing else`(seed: UInt32) throws {
        var cuts = 0
        for operation in 1... {
            let directory = try TemporaryDirectory()
            let disk = FaultySQLite()
            disk.cutPower(atOperation: UInt64(operation), seed: seed &* 7919 &+ UInt32(operation))
            let told = run(in: directory.path, on: disk)
            guard disk.isDead else { break }
            cuts += 1
            // The shared memory was memory.
            try? FileManagerShim.remove(directory.database + "-shm")
            try check(directory, told, "cut at operation \(operation), seed \(seed)")
        }
        #expect(cuts > 100)
    }

    private func check(_ directory: TemporaryDirectory, _ told: Told, _ what: Comment) throws {
        let disk = FaultySQLite()
        let store = Harness(directory.path) { $0.vfs = disk.name }
        store.begin()
        store.send(.window(1000))
        #expect(store.events.notices.isEmpty, what)
        let count = Int(store.snapshot?.presence?.latest.first ?? 0)
        // The commit under way when it happened may be there or not.
        #expect(count >= told.committed && count <= told.tried, what)
        let waiting = store.events.delivered.compactMap { Int($0.text) }
        #expect(waiting == waiting.sorted(), what)
        let known = Set(waiting)
        let all = count > 0 ? Set(1...count) : []
        #expect(known.isSubset(of: all), what)
        #expect(all.subtracting(known).isSubset(of: told.acknowledged), what)
        store.stop()
        var history: [Int64] = []
        if count > 0 {
            try StoreReader(directory: directory.path).forEachTransition(HistoryFilter()) {
                history.append($0.timestamp)
                return true
            }
        }
        #expect(history == all.sorted().map(Int64.init), what)
    }
}
