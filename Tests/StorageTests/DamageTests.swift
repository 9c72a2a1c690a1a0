import Base
import Regions
import TestSupport
import Testing

@testable import Storage

@Suite struct DamageTests {
    /// Its syncs cost nothing; it breaks nothing here.
    let disk = FaultySQLite()

    static let messages = (1...60).map { number in
        message(
            "{\"_type\":\"transition\",\"n\":\(number)}", topic: "owntracks/gw/hall/\(number % 3)",
            kind: Publication.Kind(rawValue: Int64(number % 2)) ?? .other)
    }
    static let regions = (1...40).map { region("Room \($0)") }
    static let entries = (1...150).map { entry("Room \($0 % 40)", at: 1_700_000_000 + Int64($0)) }

    /// A directory with something of everything in it.
    private func filled(closed: Bool) throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        let store = Harness(directory.path) { $0.vfs = disk.name }
        store.send(
            .commit([
                .regions(tracker: "owntracks/gw/hall", Self.regions), .presence(presence(Array(1...200))),
                .value(key: "configuration", Array("{\"monitoring\":1}".utf8)),
            ]))
        for (offset, message) in Self.messages.enumerated() {
            store.send(.commit([.message(message)]))
            if offset.isMultiple(of: 10) { store.send(.refused(Int64(offset), reason: "no")) }
        }
        store.send(.commit(Self.entries.map { .history($0) }))
        try StoreEditor(directory: directory.path).edit(
            "t", [.remove(rid: "x"), .set(region("y"), isRIDDerived: true)])
        if closed {
            store.stop()
            return directory
        }
        return try directory.copy()
    }

    /// Starts on the damaged files and compares what comes out with what went in.
    ///
    /// - Returns: Whether the damage was noticed.
    private func check(_ directory: TemporaryDirectory, _ what: Comment) throws -> (noticed: Bool, lost: Int) {
        let store = Harness(directory.path) { $0.vfs = disk.name }
        store.begin()
        store.send(.window(1000))
        store.pass(.seconds(1))
        guard let snapshot = store.snapshot else {
            Issue.record("does not start: \(what), \(store.events.unavailable)")
            return (false, 0)
        }
        let originals = Dictionary(uniqueKeysWithValues: Self.messages.map { ($0.payload, $0) })
        let rows = store.events.delivered
        for row in rows { #expect(originals[row.publication.payload] == row.publication, what) }
        let numbers = rows.compactMap { row in Self.messages.firstIndex(of: row.publication) }
        #expect(numbers == numbers.sorted(), what)
        #expect(Set(numbers).count == numbers.count, what)
        for (tracker, regions) in snapshot.regions {
            #expect(tracker.text == "owntracks/gw/hall", what)
            #expect(Set(regions).isSubset(of: Self.regions), what)
        }
        if let presence = snapshot.presence { #expect(presence.state == Array(1...200), what) }
        for (key, value) in snapshot.values {
            #expect(key.text == "configuration" && value == Array("{\"monitoring\":1}".utf8), what)
        }
        for edit in snapshot.edits { #expect(edit.tracker == "t", what) }
        // It is in working order: what is written now is there.
        store.send(.commit([.message(message("new"))]))
        store.pass(.seconds(1))
        #expect(store.commits == 1, what)
        #expect(store.events.delivered.last?.text == "new", what)
        store.stop()
        return (!store.events.notices.isEmpty, Self.messages.count - 5 - rows.count)
    }

    @Test func `undamaged, everything comes out as it went in`() throws {
        for closed in [true, false] {
            let found = try check(try filled(closed: closed), "undamaged")
            #expect(found == (false, 0))
        }
    }

    @Test func `five hundred random damages: it always starts and never tells what was not written`() throws {
        let originals = [try filled(closed: true), try filled(closed: false)]
        var random = SplitMix64(seed: 20_240_607)
        var (noticed, lost) = (0, 0)
        for round in 0..<500 {
            let directory = try originals[round % 2].copy()
            let names = directory.names.filter { !$0.hasSuffix("-shm") }
            // Another machine, or another day: the shared memory is not there.
            for name in directory.names where name.hasSuffix("-shm") {
                try FileManagerShim.remove("\(directory.path)/\(name)")
            }
            let name = names[Int.random(in: 0..<names.count, using: &random)]
            let path = "\(directory.path)/\(name)"
            let bytes = try FileManagerShim.bytes(of: path)
            let damage = Damage.allCases[round / 2 % Damage.allCases.count]
            try FileManagerShim.write(damage.applied(to: bytes, using: &random), to: path)
            let found = try check(directory, "round \(round): \(damage) of \(name)")
            noticed += found.noticed ? 1 : 0
            lost += found.lost
        }
        #expect(noticed > 100)
        print("damaged 500 times: noticed \(noticed), rows of the outbox that could not be saved: \(lost) of 27500")
    }

    @Test func `a damaged file is kept under another name that the notice says`() throws {
        let directory = try filled(closed: true)
        var bytes = try FileManagerShim.bytes(of: directory.database)
        for index in 0..<100 { bytes[index] = 0x55 }
        try FileManagerShim.write(bytes, to: directory.database)
        let store = Harness(directory.path)
        store.send()
        #expect(directory.names.contains("state.db.damaged-1"))
        #expect(store.events.notices.contains { $0.contains("state.db.damaged-1") })
        #expect(try FileManagerShim.bytes(of: directory.database + ".damaged-1") == bytes)
    }

    @Test func `one flipped bit in one message costs that message alone`() throws {
        let directory = try filled(closed: true)
        var bytes = try FileManagerShim.bytes(of: directory.database)
        let needle = Array("\"n\":42}".utf8)
        let index = bytes.indices.first { bytes[$0...].starts(with: needle) }
        let found = try #require(index)
        bytes[found + 4] ^= 1
        try FileManagerShim.write(bytes, to: directory.database)
        #expect(try check(directory, "one bit") == (true, 1))
    }

    @Test func `the power may go while a damaged file is replaced: nothing that was good is lost`() throws {
        let damaged = try filled(closed: true)
        var bytes = try FileManagerShim.bytes(of: damaged.database)
        let needle = Array("\"n\":42}".utf8)
        let found = try #require(bytes.indices.first { bytes[$0...].starts(with: needle) })
        bytes[found + 4] ^= 1
        try FileManagerShim.write(bytes, to: damaged.database)
        var cuts = 0
        for operation in 1... {
            let directory = try damaged.copy()
            let cut = FaultySQLite()
            cut.cutPower(atOperation: UInt64(operation), seed: UInt32(operation))
            // Alone in its scope: it holds the lock of the directory as long as it lives.
            do {
                let store = Harness(directory.path) { $0.vfs = cut.name }
                store.send()
            }
            guard cut.isDead else { break }
            cuts += 1
            let next = Harness(directory.path) { $0.vfs = disk.name }
            next.begin()
            next.send(.window(1000))
            #expect(next.events.unavailable.isEmpty, "cut \(operation)")
            #expect(next.events.delivered.count == 54, "cut \(operation)")
        }
        #expect(cuts > 20)
    }

    /// A directory as `filled` makes it, and later messages in a log beside the file.
    private func filledWithLog() throws -> TemporaryDirectory {
        let directory = try filled(closed: true)
        let store = Harness(directory.path) { $0.vfs = disk.name }
        store.begin()
        for number in 1...9 { store.send(.commit([.message(message("later \(number)"))])) }
        return try directory.copy()
    }

    /// Which file has a bad sector and where; the number of messages that survive.
    @Test(arguments: [("-wal", 9000, 55), ("", 10, 0)])
    func `a sector that cannot be read counts as damage at the fourth try`(
        file: String, offset: Int64, messages: Int
    ) throws {
        let directory = try filledWithLog()
        disk.setBadSector(directory.database + file, at: offset)
        let store = Harness(directory.path) { $0.vfs = disk.name }
        store.send(.window(1000))
        for _ in 1...2 { store.pass(.seconds(30)) }
        #expect(store.snapshot == nil)
        #expect(store.events.unavailable.map { $0.error.isUnreadable } == [true])
        #expect(!directory.names.contains { $0.contains("damaged") })
        store.pass(.seconds(30))
        #expect(store.snapshot?.regions.isEmpty == (messages == 0))
        #expect(store.events.notices.contains { $0.contains("state.db.damaged-1") })
        #expect(directory.names.contains("state.db.damaged-1"))
        #expect(directory.names.contains("state.db.damaged-1-wal"))
        store.send(.commit([.message(message("new"))]))
        store.pass(.seconds(1))
        #expect(store.events.delivered.count == messages + 1)
        #expect(store.events.delivered.last?.text == "new")
        store.stop()
        #expect(!directory.names.contains { $0.contains(".new") })
    }

    @Test func `a sector that can be read again at the fourth try costs nothing`() throws {
        let directory = try filledWithLog()
        disk.setBadSector(directory.database + "-wal", at: 9000)
        let store = Harness(directory.path) { $0.vfs = disk.name }
        store.send(.window(1000))
        for _ in 1...2 { store.pass(.seconds(30)) }
        #expect(store.snapshot == nil)
        disk.setBadSector(nil)
        store.pass(.seconds(30))
        #expect(store.snapshot?.regions.isEmpty == false)
        #expect(store.events.delivered.count == 64)
        #expect(store.events.notices.isEmpty)
    }

    @Test func `a log that cannot be read when a running store opens its file again counts as damage`() throws {
        let directory = try filledWithLog()
        let store = Harness(directory.path) { $0.vfs = disk.name }
        store.begin()
        store.send(.window(1000))
        for number in 1...9 { store.send(.commit([.message(message("even later \(number)"))])) }
        disk.set(.ioError)
        store.send(.commit([.message(message("new"))]))
        disk.setBadSector(directory.database + "-wal", at: 9000)
        for _ in 1...4 { store.pass(.seconds(30)) }
        disk.set(.none)
        for _ in 1...8 { store.pass(.seconds(30)) }
        #expect(store.events.isStateLost)
        #expect(store.events.notices.contains { $0.contains("state.db.damaged-1") })
        #expect(store.commits == 10)
        #expect(store.events.delivered.last?.text == "new")
    }

    @Test func `on a disk that cannot be written, a file that cannot be read stays where it is`() throws {
        let directory = try filledWithLog()
        disk.setBadSector(directory.database + "-wal", at: 9000)
        disk.set(.ioError)
        let store = Harness(directory.path) { $0.vfs = disk.name }
        store.send(.window(1000))
        for _ in 1...9 { store.pass(.seconds(30)) }
        #expect(store.snapshot == nil)
        #expect(!directory.names.contains { $0.contains("damaged") || $0.contains(".new") })
        disk.setBadSector(nil)
        disk.set(.none)
        store.pass(.seconds(30))
        #expect(store.events.delivered.count == 64)
    }

    @Test func `a file that grows old names does not fill the card`() throws {
        let directory = try TemporaryDirectory()
        for _ in 0..<12 {
            try FileManagerShim.write(Array("this is not a database at all".utf8), to: directory.database)
            let store = Harness(directory.path)
            store.begin()
            #expect(store.snapshot != nil)
            store.stop()
        }
        #expect(directory.names.count { $0.contains("damaged") } == 8)
    }
}

/// What can become of bytes on a card.
enum Damage: CaseIterable {
    case flippedBit, fewBytes, zeroedSector, garbageSector, truncated, swappedPages, erasedPage

    func applied(to original: [UInt8], using random: inout SplitMix64) -> [UInt8] {
        var bytes = original
        guard bytes.count > 8192 else { return Array(bytes.dropLast()) }
        let place = Int.random(in: 0..<bytes.count - 4096, using: &random)
        switch self {
        case .flippedBit: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case .fewBytes:
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
            }
        case .zeroedSector: for index in (place & ~511)..<(place & ~511) + 512 { bytes[index] = 0 }
        case .garbageSector:
            for index in (place & ~511)..<(place & ~511) + 512 { bytes[index] = .random(in: 0...255, using: &random) }
        case .truncated: bytes.removeLast(bytes.count - place)
        case .swappedPages:
            let other = Int.random(in: 0..<bytes.count - 4096, using: &random) & ~4095
            for index in 0..<4096 { bytes.swapAt((place & ~4095) + index, other + index) }
        case .erasedPage: for index in (place & ~4095)..<(place & ~4095) + 4096 { bytes[index] = 0xff }
        }
        return bytes
    }
}
