import Base
import Regions
import Testing

@testable import Storage

@Suite struct MailboxTests {
    /// What waits (T transition, L location, S state, O other, H history entry), how many have room, and
    /// what stays.
    @Test(arguments: [
        ("T L S O H", 5, "T L S O H"),
        ("T L S O H", 4, "T S O H"),
        ("T L S O H", 3, "T O H"),
        ("T L S O H", 2, "T H"),
        ("T L S O H", 1, "T"),
        ("L T L T L", 3, "T T L"),
        ("H T H T H", 3, "T T H"),
        ("T T T", 1, "T"),
        ("L L L", 0, ""),
    ])
    func `memory gives up locations first and transitions last`(waiting: String, room: Int, stays: String) {
        var commit = PendingCommit()
        for word in waiting.split(separator: " ") {
            let change: StoreChange =
                switch word {
                case "T": .message(message("T", kind: .transition))
                case "L": .message(message("L", kind: .location))
                case "S": .message(message("S", kind: .state))
                case "O": .message(message("O", kind: .other))
                default: .history(entry("H"))
                }
            commit.add([change])
        }
        let dropped = commit.shed(toCount: room, bytes: .max)
        let kept =
            commit.messages.map { String(decoding: $0.payload, as: UTF8.self) } + commit.history.map(\.name)
        #expect(kept.sorted() == stays.split(separator: " ").map(String.init).sorted())
        #expect(Int(dropped.total) + kept.count == waiting.split(separator: " ").count)
    }

    @Test func `a flood of large messages keeps memory within the limit`() {
        var mailbox = StoreMailbox(countLimit: 1000, byteLimit: 100_000, payloadLimit: 50_000)
        let large = message(String(repeating: "x", count: 900), kind: .location)
        for _ in 0..<100_000 {
            mailbox.append(.commit([.message(large)]))
            #expect(mailbox.pending <= 1000 && mailbox.pendingBytes <= 100_000)
        }
        let mail = mailbox.drain(withCommit: true)
        #expect(Int(mail.dropped.locations) + (mail.commit?.count ?? 0) == 100_000)
        #expect(mailbox.pending == 0)
    }

    @Test(arguments: [Publication.Kind.state, .ping])
    func `when memory is full, what a later message of its topic replaces goes first`(kind: Publication.Kind) {
        var mailbox = StoreMailbox(countLimit: 100, byteLimit: 100_000, payloadLimit: 50_000)
        mailbox.append(.commit([.message(message("quiet", topic: "a", kind: kind))]))
        for number in 1...10_000 {
            mailbox.append(.commit([.message(message("\(number)", topic: "b\(number % 3)", kind: kind))]))
            #expect(mailbox.pending <= 100)
        }
        let bytes = mailbox.pendingBytes
        let mail = mailbox.drain(withCommit: true)
        let kept = mail.commit?.messages ?? []
        #expect(kept.first?.text == "quiet")
        #expect(kept.suffix(3).map(\.text) == ["9998", "9999", "10000"])
        #expect(bytes == kept.reduce(0) { $0 + $1.payload.count })
        #expect(mail.dropped.total == 0)
    }

    @Test func `no transition is replaced by a later one of its topic`() {
        var commit = PendingCommit()
        for kind in [Publication.Kind.transition, .other, .location, .transient] {
            for _ in 1...2 { commit.add([.message(message("x", kind: kind))]) }
        }
        #expect(commit.shed(toCount: 8, bytes: .max).total == 0)
        #expect(commit.messages.count == 8)
    }

    @Test func `of regions and presence only the newest waits`() {
        var mailbox = StoreMailbox(countLimit: 10, byteLimit: 1000, payloadLimit: 1000)
        for number in 0..<1000 {
            mailbox.append(
                .commit([.regions(tracker: "t", [region("\(number)")]), .presence(presence([UInt8(number % 256)]))]))
        }
        let commit = mailbox.drain(withCommit: true).commit
        #expect(commit?.regions == ["t": [region("999")]])
        #expect(commit?.presence?.state == [231])
    }

    @Test func `changes of presence wait in their order, until a whole one comes`() {
        var mailbox = StoreMailbox(countLimit: 10, byteLimit: 1000, payloadLimit: 1000)
        for number: UInt8 in 1...3 { mailbox.append(.commit([.presenceChange([number])])) }
        var commit = mailbox.drain(withCommit: true).commit
        #expect(commit?.presence == nil)
        #expect(commit?.presenceChanges == [[1], [2], [3]])
        mailbox.append(.checkpoint(presence([4])))
        mailbox.append(.commit([.presenceChange([5])]))
        let mail = mailbox.drain(withCommit: true)
        #expect(mail.checkpoint?.state == [4])
        #expect(mail.commit?.presenceChanges == [[5]])
        mailbox.append(.commit([.presenceChange([6])]))
        mailbox.append(.checkpoint(presence([7])))
        mailbox.append(.commit([.presenceChange([8])]))
        commit = mailbox.drain(withCommit: true).commit
        #expect(commit?.presence?.state == [7])
        #expect(commit?.presenceChanges == [[8]])
    }
}
