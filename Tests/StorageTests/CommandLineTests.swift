import Base
import Regions
import Testing

@testable import Storage

/// What the command line does beside a daemon that runs, or without one.
@Suite struct CommandLineTests {
    let directory: TemporaryDirectory
    let tracker = "owntracks/gw/hall"

    init() throws { directory = try TemporaryDirectory() }

    @Test func `without any state there is nothing to read, and it is said`() {
        #expect(throws: StoreError.absent(path: directory.database)) { _ = try StoreReader(directory: directory.path) }
    }

    @Test func `an edit before the first start is listed, and taken over by the daemon`() throws {
        let editor = try StoreEditor(directory: directory.path)
        try editor.edit(
            tracker, [.set(region("Hall"), isRIDDerived: true), .set(region("Attic"), isRIDDerived: false)])
        #expect(
            try StoreReader(directory: directory.path).regions()[tracker]?.regions == [region("Hall"), region("Attic")])
        let store = Harness(directory.path)
        store.send()
        #expect(
            store.snapshot?.edits.map(\.regionChange) == [
                .set(region("Hall"), isRIDDerived: true), .set(region("Attic"), isRIDDerived: false),
            ])
    }

    @Test func `the running daemon is told of an edit within seconds, once`() throws {
        let store = Harness(directory.path)
        store.send()
        store.pass(.seconds(2))
        try StoreEditor(directory: directory.path).edit(tracker, [.remove(rid: "gone")])
        #expect(store.pass(.milliseconds(100)).edits.isEmpty)
        let edits = store.pass(.seconds(2)).edits
        #expect(edits.map(\.change) == [.region(.remove(rid: "gone"))])
        #expect(edits.map(\.tracker) == [tracker])
        for _ in 0..<10 { store.pass(.seconds(2)) }
        #expect(store.events.edits.count == 1)
    }

    @Test func `asked, it looks at once`() throws {
        let store = Harness(directory.path)
        store.send()
        try StoreEditor(directory: directory.path).edit(tracker, [.remove(rid: "gone")])
        #expect(store.send(.checkEdits).edits.count == 1)
    }

    @Test func `asked for all again, it tells of those that are still there, not of those just taken`() throws {
        let store = Harness(directory.path)
        store.send()
        let editor = try StoreEditor(directory: directory.path)
        try editor.edit(tracker, [.remove(rid: "1")])
        try editor.edit("another", [.remove(rid: "2")])
        let told = store.send(.checkEdits).edits
        #expect(told.count == 2)
        let first = try #require(told.first)
        let taken = StoreRequest.commit([.editsTaken(tracker: tracker, upTo: first.id)])
        #expect(store.send(taken, .rereadEdits).edits.map(\.tracker) == ["another"])
        #expect(store.pass(.seconds(2)).edits.isEmpty, "once")
        #expect(store.send(.rereadEdits).edits.map(\.tracker) == ["another"])
    }

    @Test func `an edit that was not taken over comes again after a restart, one that was does not`() throws {
        let editor = try StoreEditor(directory: directory.path)
        try editor.edit(tracker, [.set(region("1"), isRIDDerived: false)])
        let first = Harness(directory.path)
        first.send()
        first.stop()
        let second = Harness(directory.path)
        second.send()
        let edits = second.snapshot?.edits ?? []
        #expect(edits.count == 1)
        second.send(
            .commit([
                .regions(tracker: tracker, [region("1")]), .editsTaken(tracker: tracker, upTo: edits.last?.id ?? 0),
            ]))
        second.stop()
        let third = Harness(directory.path)
        third.send()
        #expect(third.snapshot?.edits == [])
        #expect(third.snapshot?.regions == [ExactString(tracker): [region("1")]])
    }

    @Test func `edits after some were taken over have higher numbers, so that none is overlooked`() throws {
        let editor = try StoreEditor(directory: directory.path)
        try editor.edit(tracker, [.remove(rid: "1"), .remove(rid: "2")])
        let store = Harness(directory.path)
        store.send()
        store.send(.commit([.editsTaken(tracker: tracker, upTo: 2)]))
        try editor.edit(tracker, [.remove(rid: "3")])
        #expect(store.pass(.seconds(2)).edits.map(\.id) == [3])
    }

    @Test func `edits of a tracker that is not served stay until it is`() throws {
        let editor = try StoreEditor(directory: directory.path)
        try editor.edit("another", [.remove(rid: "1")])
        try editor.edit(tracker, [.remove(rid: "2")])
        let first = Harness(directory.path)
        first.send()
        first.send(.commit([.editsTaken(tracker: tracker, upTo: 2)]))
        first.stop()
        let second = Harness(directory.path)
        second.send()
        #expect(second.snapshot?.edits.map(\.tracker) == ["another"])
        second.send(.commit([.editsTaken(tracker: "another", upTo: 1)]))
        second.stop()
        #expect(try StoreReader(directory: directory.path).summary().edits == 0)
    }

    @Test func `edits and the daemon's own commits wait for each other and both count`() throws {
        let store = Harness(directory.path)
        store.send()
        let editor = try StoreEditor(directory: directory.path)
        for number in 1...50 {
            try editor.edit(tracker, [.set(region("\(number)"), isRIDDerived: false)])
            store.send(.commit([.message(message("\(number)"))]))
            store.pass(.seconds(2))
        }
        #expect(store.events.edits.count == 50)
        #expect(store.commits == 50)
        #expect(store.events.failed.isEmpty)
    }

    private func history() throws -> [String] {
        var names: [String] = []
        try StoreReader(directory: directory.path).forEachTransition(HistoryFilter()) {
            names.append("\($0.tracker) \($0.name)")
            return true
        }
        return names
    }

    @Test func `A history is deleted at once, and again by the daemon, which may have had more to write`() throws {
        let store = Harness(directory.path)
        store.send(.commit([.history(entry("Hall"))]))
        #expect(try history() == ["\(tracker) Hall"])
        try StoreEditor(directory: directory.path).edit(tracker, [], erasingHistoryOf: tracker)
        #expect(try history().isEmpty)
        store.send(.commit([.history(entry("Attic"))]))
        let edits = store.pass(.seconds(3)).edits
        #expect(edits.map(\.change) == [.eraseHistory])
        store.send(
            .commit([.history(entry("Bath"))]),
            .commit(
                edits.flatMap { [.eraseHistory(tracker: $0.tracker), .editsTaken(tracker: $0.tracker, upTo: $0.id)] }),
            .commit([.history(entry("Cellar"))]))
        #expect(try history() == ["\(tracker) Cellar"])
        #expect(try StoreReader(directory: directory.path).summary().edits == 0)
    }

    @Test func `The removal of a region deletes no history`() throws {
        let store = Harness(directory.path)
        store.send(.commit([.history(entry("Hall"))]))
        try StoreEditor(directory: directory.path).edit(tracker, [.remove(rid: "hall")])
        #expect(store.pass(.seconds(3)).edits.map(\.change) == [.region(.remove(rid: "hall"))])
        #expect(try history() == ["\(tracker) Hall"])
    }

    @Test func `a summary says what waits`() throws {
        let store = Harness(directory.path)
        store.send(
            .commit([
                .presence(presence([1])), .message(message("12345")),
                .message(message("123", kind: .location)), .history(entry("a")),
                .message(message("1", stamp: .provisional)),
            ]))
        let summary = try StoreReader(directory: directory.path).summary()
        #expect(summary.schemaVersion == Migrations.latest)
        #expect(summary.waiting == [.transition: 2, .location: 1])
        #expect(summary.waitingBytes == 9)
        #expect(summary.waitingForClock == 1)
        #expect(summary.transitions == 1)
    }

    @Test func `regions that the service would refuse are not queued, and the number is said`() throws {
        let editor = try StoreEditor(directory: directory.path)
        let limit = RegionLimit(of: [tracker, "another"], most: 3)
        func add(_ names: [String], to tracker: String) throws -> Int? {
            try editor.edit(tracker, within: limit) { _ in names.map { .set(region($0), isRIDDerived: false) } }
        }
        #expect(try add(["1", "2"], to: tracker) == nil)
        #expect(try add(["3", "4"], to: "another") == 4)
        #expect(try add(["3"], to: "another") == nil)
        #expect(try add(["1"], to: tracker) == nil, "it is there")
        #expect(try add(["x", "y", "z"], to: "of other settings") == 6, "its regions count, too")
        #expect(try editor.edit(tracker, within: limit) { _ in [.remove(rid: region("1").rid)] } == nil)
        #expect(try add(["5"], to: tracker) == nil)
        let stored = try StoreReader(directory: directory.path).regions()
        #expect(
            stored.mapValues { $0.regions.map(\.displayName) } == [
                ExactString(tracker): ["2", "5"], ExactString("another"): ["3"],
            ])
    }
}
