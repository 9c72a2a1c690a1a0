import Base
import Beacon
import OwnTracks
import Regions
import Rooms
import SiteProtocol
import Testing

@testable import SiteCore

/// The list of tags that the services of a site share.
@Suite struct SiteListTests {
    private func beacons(_ minors: Int...) throws -> [BeaconID] {
        try minors.map { try #require(BeaconID("\(SiteFleet.uuid):1:\($0)")) }
    }

    /// Largest number of tags where a test fills the table. It is lower than that of a site: what a full table does depends only on that
    /// it is full.
    private static let most = 1000

    /// A service with three tags is active.
    private func fleet(
        active name: String = "a", hasKey: Bool = false, mostTags: Int = RoomEngine.mostTags
    ) -> SiteFleet {
        var fleet = SiteFleet(hasKey: hasKey, mostTags: mostTags)
        fleet.start(name, stored: SiteFleet.stored("Jane:7", "Bob:8", "Keys:9"))
        fleet.run(5)
        return fleet
    }

    // MARK: Without a stored list

    @Test func `A service that lost its state asks, and replaces no list that it does not know, whatever is added`() {
        var fleet = fleet()
        fleet.kill("a")
        fleet.loseState(of: "a")
        let before = fleet.lists.count
        fleet.start("a")
        fleet.edit("a", SiteFleet.change("New:10"))
        fleet.run(60)
        #expect(fleet.role("a") != .active && fleet.card("a")?.asksToAdopt == true)
        #expect(fleet.services["a"]?.siteTags.list.question?.remedy.contains("rooms tags adopt") == true)
        #expect(fleet.log.contains { $0.contains("rooms tags adopt") })
        #expect(fleet.lists.count == before && fleet.listed == [7, 8, 9])
        #expect(fleet.request("a", .adoptTags) == nil)
        fleet.run(5)
        #expect(fleet.role("a") == .active && fleet.card("a")?.asksToAdopt == false)
        #expect(fleet.listed == [7, 8, 9, 10] && fleet.tags("a") == ["Bob", "Jane", "Keys", "New"])
        #expect(fleet.request("a", .adoptTags) == nil, "a second time there is nothing to do")
    }

    @Test func `A service that ends asks no longer whether it may adopt the list, and asks again when it is back`() {
        var fleet = fleet()
        fleet.kill("a")
        fleet.loseState(of: "a")
        for _ in 1...2 {
            fleet.start("a")
            fleet.run(20)
            #expect(fleet.card("a")?.asksToAdopt == true)
            fleet.leave("a")
            #expect(fleet.card("a")?.asksToAdopt == false && fleet.card("a")?.isActive == false)
        }
    }

    @Test func `Tags of the configuration file alone do not replace the list either`() {
        var fleet = fleet()
        fleet.kill("a")
        fleet.loseState(of: "a")
        fleet.start("a", configured: ["Jane:7"])
        fleet.run(60)
        #expect(fleet.role("a") != .active && fleet.listed == [7, 8, 9])
    }

    @Test func `A list that arrives late is not replaced`() throws {
        // The broker does not return the own card, so only time tells that there is no list.
        var settings = SiteSettings()
        settings.instance = "a"
        var site = Site(settings)
        var now = MonotonicInstant.zero.advanced(by: .seconds(1000))
        _ = site.handle(.start(StoredSite()), at: now)
        _ = site.handle(.brokerConnected, at: now)
        for _ in 0..<9 {
            now = now.advanced(by: .seconds(1))
            _ = site.handle(.tick, at: now)
            #expect(site.role != .active)
        }
        let list = ReceivedTagList(TagList(try beacons(7)).payload)
        _ = site.handle(.message(.tags(list), isRetained: true), at: now)
        _ = site.handle(.tick, at: now.advanced(by: .seconds(30)))
        #expect(site.role != .active && site.siteTags.list.question != nil)
    }

    @Test func `A service that knows each tag of the list under other names goes on with its own, as a newer list`() {
        var fleet = fleet()
        fleet.kill("a")
        fleet.loseState(of: "a")
        fleet.start("a", configured: ["Joan:7", "Rob:8", "Purse:9"])
        fleet.run(5)
        #expect(fleet.role("a") == .active && fleet.lists.last?.list.version == .init(2, "a"))
    }

    @Test func `Where the broker has no list, a new service begins one, and after rooms clear too`() {
        var fleet = SiteFleet()
        fleet.start("a", configured: ["Jane:7"])
        fleet.run(3)
        #expect(fleet.role("a") == .active && fleet.listed == [7])
        fleet.kill("a")
        fleet.loseState(of: "a")
        fleet.start("a", configured: ["Bob:8"])
        fleet.run(20)
        #expect(fleet.role("a") != .active)
        fleet.publish(SiteFleet.listTopic, [])
        fleet.run(5)
        #expect(fleet.role("a") == .active && fleet.listed == [8])
    }

    @Test(arguments: [false, true])
    func `A list that cannot be decrypted is not replaced by a service without the key`(hasStoredList: Bool) {
        var fleet = SiteFleet()
        fleet.start("a", stored: hasStoredList ? SiteFleet.stored("Jane:7") : nil)
        fleet.publishSealedList(to: "a")
        fleet.run(60)
        #expect(fleet.role("a") != .active && fleet.lists.isEmpty)
        #expect(fleet.request("a", .adoptTags)?.contains("rooms.encryptionKeyFile") == true)
    }

    @Test func `With the key, a service that has the list replaces that of another key`() {
        var fleet = SiteFleet(hasKey: true)
        fleet.start("a", stored: SiteFleet.stored("Jane:7"))
        fleet.publishSealedList(to: "a")
        fleet.run(5)
        #expect(fleet.role("a") == .active && fleet.listed == [7])
    }

    // MARK: A newer list

    static let names = [("a", "b"), ("b", "a")]

    @Test(arguments: names)
    func `A standby with an older list takes the newer one, and over a takeover no tag is lost`(
        _ active: String, _ standby: String
    ) {
        var fleet = fleet(active: active)
        fleet.start(standby, stored: SiteFleet.stored("Jane:7", "Bob:8"))
        fleet.run(10)
        #expect(fleet.tags(standby) == ["Bob", "Jane", "Keys"])
        fleet.kill(active)
        fleet.run(15)
        #expect(fleet.role(standby) == .active)
        #expect(fleet.lists.allSatisfy { $0.list.tags.count == 3 } && fleet.listed == [7, 8, 9])
    }

    @Test(arguments: [false, true])
    func `A tag that was removed stays removed at a standby, also one that was off meanwhile`(wasOff: Bool) {
        var fleet = fleet()
        fleet.start("b", stored: StoredSite())
        #expect(fleet.request("b", .adoptTags) == nil)
        fleet.run(10)
        if wasOff { fleet.kill("b") }
        fleet.edit("a", .remove(rid: "keys"))
        fleet.run(10)
        if wasOff { fleet.start("b") }
        fleet.run(15)
        #expect(fleet.tags("b") == ["Bob", "Jane"])
        fleet.kill("a")
        fleet.run(15)
        #expect(fleet.role("b") == .active && fleet.listed == [7, 8])
    }

    @Test(arguments: names)
    func `A change at a standby reaches the active service`(_ active: String, _ standby: String) {
        var fleet = fleet(active: active)
        fleet.start(standby, stored: SiteFleet.stored("Jane:7", "Bob:8", "Keys:9"))
        fleet.run(10)
        fleet.edit(standby, SiteFleet.change("New:10"))
        fleet.run(10)
        #expect(fleet.tags(active) == ["Bob", "Jane", "Keys", "New"] && fleet.listed == [7, 8, 9, 10])
        #expect(fleet.role(active) == .active)
    }

    @Test(arguments: names)
    func `With the key a tag that is removed at a standby is removed at the active service`(
        _ active: String, _ standby: String
    ) {
        var fleet = fleet(active: active, hasKey: true)
        fleet.start(standby, stored: SiteFleet.stored("Jane:7", "Bob:8", "Keys:9"))
        fleet.run(10)
        fleet.edit(standby, .remove(rid: "keys"))
        fleet.run(10)
        #expect(fleet.tags(active) == ["Bob", "Jane"] && fleet.listed == [7, 8])
    }

    @Test func `With the key an old list that a client repeats is replaced`() throws {
        var fleet = fleet(hasKey: true)
        let old = try #require(fleet.retained[SiteFleet.listTopic])
        fleet.edit("a", SiteFleet.change("New:10"))
        fleet.run(10)
        fleet.publish(SiteFleet.listTopic, old)
        fleet.run(6)
        #expect(fleet.tags("a").count == 4 && fleet.listed == [7, 8, 9, 10])
    }

    @Test func `A name that was given at one service is that of all`() {
        var fleet = fleet()
        fleet.start("b", stored: SiteFleet.stored("Jane:7", "Bob:8", "Keys:9"))
        fleet.run(10)
        #expect(fleet.request("a", .renameTag(id: "jane", to: "Joan")) == nil)
        fleet.run(10)
        #expect(fleet.tags("b") == ["Bob", "Joan", "Keys"])
    }

    @Test func `Two services whose configuration files differ come to rest`() {
        var fleet = SiteFleet()
        fleet.start("a", configured: ["Jane:7", "Bob:8"])
        fleet.run(5)
        fleet.start("b", stored: SiteFleet.stored("Keys:9"), configured: ["Jane:17", "Keys:9"])
        fleet.run(60)
        let before = fleet.lists.count
        fleet.run(60)
        #expect(fleet.lists.count == before)
        #expect(fleet.listed == [7, 8, 9])
    }

    @Test func `A newer list is taken at a restart too, by a service that was not active last`() {
        var fleet = fleet(active: "b")
        fleet.start("a", stored: SiteFleet.stored("Jane:7"))
        fleet.run(10)
        fleet.kill("a")
        fleet.edit("b", SiteFleet.change("New:10"))
        fleet.kill("b")
        fleet.start("a")
        fleet.run(15)
        #expect(fleet.role("a") == .active && fleet.listed == [7, 8, 9, 10])
    }

    @Test(arguments: names)
    func `Tags that two services were given while they did not hear each other are all kept`(
        _ active: String, _ standby: String
    ) {
        var fleet = fleet(active: active)
        fleet.start(standby, stored: SiteFleet.stored("Jane:7", "Bob:8", "Keys:9"))
        fleet.run(10)
        fleet.kill(active)
        fleet.run(15)
        fleet.edit(standby, SiteFleet.change("New:10"))
        fleet.run(5)
        fleet.start(active, edits: [SiteFleet.change("Old:11")])
        fleet.run(30)
        #expect(fleet.listed == [7, 8, 9, 10, 11])
        for name in [active, standby] {
            #expect(
                fleet.tags(name).count == 5,
                "\(name) \(fleet.lists.map { ($0.by, $0.list.version, $0.list.tags.count) }) \(fleet.log)")
        }
    }

    @Test func `A tag that the command line removed while the service did not run does not come back`() {
        var fleet = fleet()
        fleet.kill("a")
        fleet.start("a", edits: [.remove(rid: "keys")])
        fleet.run(15)
        #expect(fleet.tags("a") == ["Bob", "Jane"] && fleet.listed == [7, 8])
    }

    @Test func `A tag that was removed while no service was active leaves its room as soon as one is`() {
        var fleet = fleet()
        fleet.stand([("g1", "Kitchen"), ("g2", "Hall")])
        fleet.hear(9, best: "g1", of: ["g1", "g2"], seconds: 30)
        fleet.kill("a")
        fleet.start("a", edits: [.remove(rid: "keys")])
        #expect(fleet.transitions.map(\.text) == ["a enter Kitchen"])
        fleet.run(15)
        #expect(fleet.transitions.map(\.text) == ["a enter Kitchen", "a leave Kitchen"])
    }

    @Test func `A tag that was removed and added again leaves its room, and enters it when it is heard`() {
        var fleet = fleet()
        fleet.stand([("g1", "Kitchen"), ("g2", "Hall")])
        fleet.hear(9, best: "g1", of: ["g1", "g2"], seconds: 30)
        fleet.kill("a")
        fleet.publish(
            RoomTopic.service(site: "home", instance: "b").text,
            Array(ServiceCard(isActive: true, counter: 1, version: "1").payload))
        fleet.start("a", edits: [.remove(rid: "keys")])
        fleet.edit("a", SiteFleet.change("Keys:9"))
        fleet.hear(9, best: "g1", of: ["g1", "g2"], seconds: 30)
        #expect(fleet.role("a") == .active)
        #expect(fleet.transitions.map(\.text) == ["a enter Kitchen", "a leave Kitchen", "a enter Kitchen"])
    }

    @Test func `A tag is found by its id before its name`() {
        var fleet = SiteFleet()
        fleet.start("a", stored: SiteFleet.stored("jane:7", "bob:8"))
        // They exchange their keyfobs: the ids stay.
        for (id, name, minor) in [("jane", "x", 7), ("bob", "jane", 8), ("jane", "bob", 7)] {
            let beacon = "\(SiteFleet.uuid):1:\(minor)"
            guard let description = try? RegionDescription(parsing: "\(name):\(beacon)") else { continue }
            fleet.edit(
                "a", .set(Region(rid: id, description: description, timestamp: 1_600_000_000), isRIDDerived: false))
        }
        #expect(fleet.tags("a") == ["bob", "jane"])
        #expect(fleet.services["a"]?.roster.id(named: "jane") == "jane")
        #expect(fleet.services["a"]?.roster.id(named: "bob") == "bob")
    }

    @Test func `A tag that another service removed leaves its room once`() {
        var fleet = fleet(hasKey: true)
        fleet.start("b", stored: SiteFleet.stored("Jane:7", "Bob:8", "Keys:9"))
        fleet.stand([("g1", "Kitchen"), ("g2", "Hall")])
        fleet.hear(9, best: "g1", of: ["g1", "g2"], seconds: 30)
        fleet.kill("a")
        fleet.run(30)
        fleet.edit("b", .remove(rid: "keys"))
        fleet.kill("b")
        fleet.start("a")
        fleet.run(30)
        #expect(fleet.role("a") == .active && fleet.tags("a") == ["Bob", "Jane"])
        #expect(fleet.transitions.map(\.text) == ["a enter Kitchen", "b leave Kitchen"])
    }

    @Test func `A forged version is not taken by a service that knows all tags of its list`() throws {
        var fleet = fleet()
        fleet.kill("a")
        fleet.loseState(of: "a")
        fleet.publish(SiteFleet.listTopic, try forged(1 << 52, 7, 8, 9))
        fleet.start("a", configured: ["Joan:7", "Rob:8", "Purse:9"])
        fleet.run(20)
        #expect(fleet.role("a") == .active)
        #expect(fleet.lists.allSatisfy { $0.list.version.number <= 1 << 21 }, "numbers are left for changes")
    }

    @Test(arguments: [1, 3])
    func `A tag that is added in the configuration file before a restart reaches the other service`(starts: Int) {
        var fleet = fleet()
        fleet.start("b", stored: SiteFleet.stored("Jane:7", "Bob:8", "Keys:9"))
        fleet.run(10)
        fleet.kill("a")
        fleet.run(15)
        for _ in 0..<starts {
            fleet.start("a", configured: ["New:10"])
            fleet.run(60)
            #expect(fleet.listed == [7, 8, 9, 10])
            for name in ["a", "b"] { #expect(fleet.tags(name) == ["Bob", "Jane", "Keys", "New"]) }
            fleet.kill("a")
        }
        #expect(fleet.lists.last?.list.version == .init(2, "a"), "once is enough")
    }

    @Test func `A tag that is taken out of the configuration file is gone after a restart`() {
        var fleet = SiteFleet()
        fleet.start("a", configured: ["Jane:7", "Bob:8"])
        fleet.run(15)
        for configured in [["Jane:7", "Bob:8"], ["Jane:7"]] {
            fleet.kill("a")
            fleet.start("a", configured: configured)
            fleet.run(15)
        }
        #expect(fleet.tags("a") == ["Jane"] && fleet.listed == [7])
    }

    /// Of the two tags of the file, one is renamed, has another beacon, or is gone; a third is not in the file.
    private static let files: [(file: [String], tags: [String], beacons: [Int], removed: [String])] = [
        (["Jane:7"], ["Jane", "Keys"], [7, 9], ["Bob"]),
        (["Jane:7", "Robert:8"], ["Jane", "Keys", "Robert"], [7, 8, 9], ["Bob"]),
        (["Jane:7", "Bob:10"], ["Bob", "Jane", "Keys"], [7, 9, 10], []), ([], ["Keys"], [9], ["Jane", "Bob"]),
        (["Jane:7", "Bob:8"], ["Bob", "Jane", "Keys"], [7, 8, 9], []),
    ]

    @Test(arguments: files, [false, true])
    func `A tag that is taken out of the configuration file is gone at the reload or the next start`(
        after: (file: [String], tags: [String], beacons: [Int], removed: [String]), restarts: Bool
    ) {
        var fleet = SiteFleet()
        fleet.start("a", configured: ["Jane:7", "Bob:8"])
        fleet.run(15)
        fleet.edit("a", SiteFleet.change("Keys:9"))
        if restarts {
            fleet.kill("a")
            fleet.start("a", configured: after.file)
        } else {
            fleet.reload("a", configured: after.file)
        }
        fleet.run(15)
        #expect(fleet.tags("a") == after.tags && fleet.listed == after.beacons)
        let told = fleet.log.filter { $0.hasSuffix("the configuration file (rooms.tags) no longer has it") }
        #expect(told.count == after.removed.count)
        for name in after.removed { #expect(told.contains { $0.hasPrefix("tags: '\(name)' is removed: ") }) }
        // It is not in the way of who adds it elsewhere.
        fleet.edit("a", SiteFleet.change("Bob:11"))
        #expect(fleet.tags("a").contains("Bob"))
    }

    @Test func `A tag that is taken out of the configuration file leaves its room, and the other service drops it`() {
        var fleet = SiteFleet()
        fleet.start("a", configured: ["Jane:7", "Bob:8"])
        fleet.run(15)
        fleet.start("b", stored: SiteFleet.stored("Jane:7", "Bob:8"))
        fleet.stand([("k", "Kitchen"), ("h", "Hall")])
        fleet.hear(8, best: "k", of: ["k", "h"], seconds: 30)
        #expect(fleet.transitions.map(\.text) == ["a enter Kitchen"])
        fleet.reload("a", configured: ["Jane:7"])
        fleet.run(15)
        #expect(fleet.transitions.map(\.text) == ["a enter Kitchen", "a leave Kitchen"])
        #expect(fleet.tags("a") == ["Jane"] && fleet.tags("b") == ["Jane"])
    }

    @Test func `Two services whose configuration files have a beacon twice come to rest`() {
        var fleet = SiteFleet()
        fleet.start("a", configured: ["Jane:7", "Bob:7"])
        fleet.run(5)
        fleet.start("b", stored: SiteFleet.stored("Keys:9"), configured: ["Jane:7", "Bob:7", "Keys:9"])
        fleet.run(60)
        let before = fleet.lists.count
        fleet.run(60)
        #expect(fleet.lists.count == before && fleet.listed == [7, 9])
    }

    // MARK: A list of another client

    private func forged(_ number: Int64, _ minors: Int...) throws -> [UInt8] {
        TagList(
            .init(number, "zz"),
            try minors.map {
                let beacon = try #require(BeaconID("\(SiteFleet.uuid):1:\($0)"))
                return TagList.Tag(
                    uuid: beacon.uuid, major: beacon.major, minor: beacon.minor, id: "x\($0)", name: "x\($0)")
            }
        ).payload
    }

    @Test(arguments: [2, 1 << 20, 1 << 52])
    func `A forged list without tags removes none: at the active service, at its standby, and at a restart`(
        _ number: Int64
    ) throws {
        var fleet = fleet()
        fleet.start("b", stored: SiteFleet.stored("Jane:7"))
        fleet.run(10)
        fleet.publish(SiteFleet.listTopic, try forged(number))
        fleet.run(20)
        for name in ["a", "b"] { #expect(fleet.tags(name) == ["Bob", "Jane", "Keys"]) }
        #expect(fleet.listed == [7, 8, 9])
        for name in ["a", "b"] { fleet.kill(name) }
        fleet.publish(SiteFleet.listTopic, try forged(number + 10))
        fleet.start("a")
        fleet.run(20)
        #expect(fleet.tags("a") == ["Bob", "Jane", "Keys"] && fleet.listed == [7, 8, 9])
        #expect(fleet.lists.allSatisfy { $0.list.version.number <= 1 << 21 }, "numbers are left for changes")
    }

    @Test func `A forged list that the active service has corrected adds nothing at a takeover`() throws {
        for payload in [try forged(3, 100), TagList(try beacons(100)).payload] {
            var fleet = fleet(active: "b")
            fleet.start("c", stored: SiteFleet.stored("Jane:7"))
            fleet.run(20)
            fleet.publish(SiteFleet.listTopic, payload)
            fleet.run(20)
            let before = fleet.tags("b")
            fleet.kill("b")
            fleet.run(15)
            #expect(fleet.role("c") == .active && fleet.tags("c") == before)
        }
    }

    @Test func `However often the list is replaced, it is answered every five seconds, and the last one too`() throws {
        var fleet = fleet()
        fleet.run(10)
        let before = fleet.lists.count
        for number in 0..<200 {
            fleet.publish(SiteFleet.listTopic, try forged(Int64(number % 7), 100 + number))
            if number % 10 == 9 { fleet.run(1) }
        }
        #expect((3...6).contains(fleet.lists.count - before))
        fleet.run(5)
        #expect(fleet.listed.starts(with: [7, 8, 9]))
    }

    @Test func `A client that adds tags is bounded by the largest number of tags`() throws {
        #expect(Site(SiteSettings()).siteTags.regions.most == 10_000)
        var fleet = fleet(mostTags: Self.most)
        for round in 0..<2 {
            let tags = (0..<600).map { number in
                TagList.Tag(
                    uuid: BeaconUUID(high: 0, low: UInt64(round)), major: 1, minor: UInt16(number),
                    id: "r\(round)-\(number)")
            }
            let version = TagList.Version(Int64(100 * (round + 1)), "zz")
            fleet.publish(SiteFleet.listTopic, TagList(version, tags).payload)
            fleet.run(10)
        }
        #expect(fleet.services["a"]?.siteTags.regions.kept.regions.count == Self.most)
    }

    /// A list with a tag of each of these numbers.
    private func list(_ version: Int64, _ tags: [(id: String, name: String, beacon: Int)]) -> [UInt8] {
        TagList(
            .init(version, "zz"),
            tags.map {
                TagList.Tag(
                    uuid: BeaconUUID(high: 0, low: 1), major: UInt16($0.beacon / 50_000),
                    minor: UInt16($0.beacon % 50_000), id: $0.id, name: $0.name)
            }
        ).payload
    }

    @Test func `Names that make no tag are left out of a list, and take nobody's place`() {
        var fleet = fleet()
        for round in 0..<3 {
            let tags = (0..<100).map { (id: "x\(round)-\($0)", name: "+x\($0)", beacon: 100 * round + $0) }
            fleet.publish(SiteFleet.listTopic, list(Int64(100 * (round + 1)), tags))
            fleet.run(10)
        }
        let jane = TagList.Tag(
            uuid: BeaconUUID(SiteFleet.uuid) ?? BeaconUUID(high: 0, low: 0), major: 1, minor: 7, id: "jane",
            name: "+Jane")
        fleet.publish(SiteFleet.listTopic, TagList(.init(1000, "zz"), [jane]).payload)
        fleet.run(10)
        #expect(fleet.services["a"]?.siteTags.regions.kept.regions.count == 3)
        #expect(fleet.tags("a") == ["Bob", "Jane", "Keys"] && fleet.listed == [7, 8, 9])
    }

    @Test func `Lists that give the beacons of tags to new tags are bounded by the largest number of tags`() {
        var fleet = fleet(mostTags: Self.most)
        let first = (0..<997).map { (id: "x\($0)", name: "x\($0)", beacon: $0) }
        fleet.publish(SiteFleet.listTopic, list(100, first))
        fleet.run(10)
        let moved = (0..<500).map { (id: "x\($0)", name: "x\($0)", beacon: 10_000 + $0) }
        let new = (0..<500).map { (id: "y\($0)", name: "y\($0)", beacon: $0) }
        fleet.publish(SiteFleet.listTopic, list(200, moved + new))
        fleet.run(10)
        #expect(fleet.services["a"]?.siteTags.regions.kept.regions.count == Self.most)
        // In a full table, tags may still exchange their beacons.
        let exchanged = (0..<100).map { (id: "x\($0)", name: "z\($0)", beacon: 10_000 + ($0 ^ 1)) }
        fleet.publish(SiteFleet.listTopic, list(300, exchanged))
        fleet.run(10)
        #expect(fleet.services["a"]?.siteTags.regions.kept.regions.count == Self.most)
        #expect(fleet.tags("a").filter { $0.hasPrefix("z") }.count == 100)
    }

    @Test func `A change that would make too many regions is refused as a whole, and the log says it`() throws {
        var fleet = SiteFleet(mostTags: Self.most)
        var stored = SiteFleet.stored()
        stored.regions.apply((0..<Self.most - 1).map { SiteFleet.change("R\($0):\($0 + 100)") })
        fleet.start("a", stored: stored)
        fleet.run(5)
        let count = { (fleet: SiteFleet) in fleet.services["a"]?.siteTags.regions.kept.regions.count }
        fleet.edit("a", SiteFleet.change("Bag:12"), SiteFleet.change("+Case:13"))
        #expect(count(fleet) == Self.most - 1)
        #expect(
            fleet.log.contains { $0.contains("nothing is changed: this would make 1001 regions; at most 1000") })
        #expect(fleet.request("a", .addTag(name: "Keys", beacon: "\(SiteFleet.uuid):1:9")) == nil)
        #expect(count(fleet) == Self.most)
        fleet.receiveRetained(command: Self.bag, "a")
        fleet.run(5)
        #expect(count(fleet) == Self.most)
        #expect(fleet.services["a"]?.commandCounts[.unavailable] == 1)
        #expect(
            fleet.request("a", .addTag(name: "Bag", beacon: "\(SiteFleet.uuid):1:12"))?.contains("already 1000")
                == true)
        // The command is obeyed once there is room.
        fleet.edit("a", .remove(rid: "r1"))
        fleet.receiveRetained(command: Self.bag, "a")
        fleet.run(5)
        #expect(count(fleet) == Self.most && fleet.tags("a").contains("Bag"))
    }

    // MARK: Services of an earlier version

    @Test func `The list of an earlier version adds tags to a standby, and keeps what the standby knows of them`()
        throws
    {
        var fleet = SiteFleet()
        fleet.publish(SiteFleet.listTopic, TagList(try beacons(7, 9)).payload)
        fleet.start("b", stored: SiteFleet.stored("Jane:7", "Bob:8"))
        fleet.run(5)
        #expect(fleet.role("b") == .active && fleet.listed == [7, 8, 9])
        #expect(fleet.tags("b") == ["\(SiteFleet.uuid)-1-9", "Bob", "Jane"])
        #expect(fleet.lists.last?.list.version == .init(1, "b"))
    }

    @Test func `An active service answers the list of an earlier version with its own`() throws {
        var fleet = fleet()
        fleet.run(10)
        fleet.publish(SiteFleet.listTopic, TagList(try beacons(7)).payload)
        fleet.run(6)
        #expect(fleet.listed == [7, 8, 9] && fleet.tags("a").count == 3)
    }

    // MARK: Retained commands

    private static let bag =
        #"{"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":[{"_type":"waypoint","rid":"bag","desc":"Bag:\#(SiteFleet.uuid):1:12","tst":1600000000}]}}"#

    @Test func `A retained setWaypoints waits until the service is active, and a standby leaves it to the active one`()
    {
        var fleet = fleet()
        fleet.receiveRetained(command: Self.bag, "a")
        #expect(fleet.listed == [7, 8, 9, 12])
        #expect(fleet.request("a", .removeTag(id: "bag")) == nil)
        fleet.start("b", stored: SiteFleet.stored("Jane:7", "Bob:8", "Keys:9"))
        // While it listens, and again while it is the standby.
        fleet.receiveRetained(command: Self.bag, "b")
        fleet.run(20)
        fleet.receiveRetained(command: Self.bag, "b")
        fleet.run(20)
        #expect(fleet.role("b") == .standby && fleet.listed == [7, 8, 9])
        fleet.kill("a")
        fleet.run(20)
        fleet.receiveRetained(command: Self.bag, "b")
        fleet.run(20)
        #expect(fleet.role("b") == .active && fleet.listed == [7, 8, 9])
    }

    @Test func `A retained setWaypoints that came while no service ran is carried out once one is active`() {
        var fleet = SiteFleet()
        fleet.start("a", stored: SiteFleet.stored("Jane:7"))
        fleet.receiveRetained(command: Self.bag, "a")
        #expect(fleet.tags("a") == ["Jane"])
        fleet.run(5)
        #expect(fleet.tags("a") == ["Bag", "Jane"] && fleet.listed == [7, 12])
    }

    @Test func `A command that comes while a retained one waits is carried out after it`() {
        var fleet = SiteFleet()
        fleet.start("a", stored: SiteFleet.stored("Jane:7"))
        fleet.receiveRetained(command: Self.bag, "a")
        fleet.receive(command: Self.bag.replacing("Bag", with: "Case"), "a")
        #expect(fleet.tags("a") == ["Jane"])
        fleet.run(5)
        #expect(fleet.tags("a") == ["Case", "Jane"])
    }

    @Test func `A command that waits behind a retained one is carried out at the end of the service`() {
        var fleet = SiteFleet()
        fleet.start("a", stored: SiteFleet.stored("Jane:7"))
        fleet.receiveRetained(command: Self.bag, "a")
        fleet.receive(command: Self.bag.replacing("Bag", with: "Case"), "a")
        fleet.stop("a")
        #expect(fleet.tags("a") == ["Case", "Jane"])
        fleet.start("a")
        fleet.receiveRetained(command: Self.bag, "a")
        fleet.run(5)
        #expect(fleet.tags("a") == ["Case", "Jane"], "the retained command is the older one")
    }

    @Test func `Beside a question that nobody answers, live commands wait for a retained one ten seconds at most`()
        throws
    {
        var fleet = SiteFleet()
        fleet.publish(SiteFleet.listTopic, TagList(try beacons(7, 8)).payload)
        fleet.start("a", stored: StoredSite())
        fleet.receiveRetained(command: Self.bag, "a")
        fleet.receive(command: Self.bag.replacing("Bag", with: "Case"), "a")
        #expect(fleet.tags("a") == [])
        fleet.run(10)
        #expect(fleet.tags("a") == ["Case"] && fleet.listed == [7, 8])
        #expect(fleet.role("a") == .listening && fleet.card("a")?.asksToAdopt == true)
        fleet.receive(command: Self.bag.replacing("Bag", with: "Box"), "a")
        #expect(fleet.tags("a") == ["Box"])
        #expect(fleet.request("a", .adoptTags) == nil)
        fleet.run(10)
        #expect(fleet.role("a") == .active && fleet.listed == [7, 8, 12])
    }

    @Test func `A retained setWaypoints with all tags of the site's list answers the question`() throws {
        var fleet = SiteFleet()
        fleet.publish(SiteFleet.listTopic, TagList(try beacons(12)).payload)
        fleet.start("a", stored: StoredSite())
        #expect(fleet.card("a")?.asksToAdopt == true)
        fleet.receiveRetained(command: Self.bag, "a")
        fleet.run(10)
        #expect(fleet.role("a") == .active && fleet.card("a")?.asksToAdopt == false)
        #expect(fleet.tags("a") == ["Bag"] && fleet.listed == [12])
    }

    @Test func `A service that waits for an answer leaves a retained setWaypoints to another one that comes`() throws {
        var fleet = SiteFleet()
        fleet.publish(SiteFleet.listTopic, TagList(try beacons(7)).payload)
        fleet.start("a", stored: StoredSite())
        fleet.run(10)
        fleet.start("b", stored: SiteFleet.stored("Jane:7"))
        fleet.run(10)
        #expect(fleet.role("b") == .active && fleet.role("a") == .standby)
        fleet.receiveRetained(command: Self.bag, "a")
        fleet.run(20)
        #expect(fleet.tags("a") == [])
    }

    @Test func `A retained command that is refused keeps no other one waiting`() {
        var fleet = SiteFleet()
        fleet.start("a", stored: SiteFleet.stored("Jane:7"))
        fleet.receiveRetained(command: #"{"_type":"cmd","action":"clearWaypoints"}"#, "a")
        fleet.receive(command: Self.bag, "a")
        #expect(fleet.role("a") == .listening && fleet.tags("a") == ["Bag", "Jane"])
    }

    // MARK: States for a service that was off

    @Test func `A standby that was off while a tag changed its room goes on from that room when it takes over`() throws
    {
        let gateways = ["g1", "g2", "g3"]
        var fleet = fleet()
        fleet.start("b", stored: SiteFleet.stored("Jane:7", "Bob:8", "Keys:9"))
        fleet.stand(Array(zip(gateways, ["Kitchen", "Hall", "Study"])))
        fleet.hear(7, best: "g1", of: gateways, seconds: 30)
        fleet.kill("b")
        fleet.hear(7, best: "g2", of: gateways, seconds: 30)
        fleet.start("b")
        fleet.hear(7, best: "g2", of: gateways, seconds: 15)
        #expect(fleet.role("b") == .standby)
        fleet.kill("a")
        fleet.hear(7, best: "g3", of: gateways, seconds: 30)
        #expect(
            fleet.transitions.map(\.text) == [
                "a enter Kitchen", "a leave Kitchen", "a enter Hall", "b leave Hall", "b enter Study",
            ])
        #expect(fleet.transitions.allSatisfy { $0.created > 1_700_000_000 })
    }

    /// The state of a tag at a service.
    private func state(of id: String, at name: String, in fleet: SiteFleet) -> PublishedTag? {
        guard let roster = fleet.services[name]?.roster, let index = roster.index(ofTag: id) else { return nil }
        return roster.states[index]
    }

    @Test func `A standby learns the states of tags, too, that it gets after them with the site's list`() {
        var fleet = fleet()
        fleet.publish(RoomTopic.card(site: "home", gateway: "g1").text, Array(#"{"v":1,"room":"Kitchen"}"#.utf8))
        fleet.hear(7, best: "g1", of: ["g1"], seconds: 30)
        fleet.start("b", stored: SiteFleet.stored("Bob:8"))
        fleet.hear(7, best: "g1", of: ["g1"], seconds: 20)
        #expect(fleet.role("b") == .standby && fleet.tags("b") == ["Bob", "Jane", "Keys"])
        #expect(state(of: "jane", at: "b", in: fleet)?.room?.id == "kitchen")
        #expect(fleet.transitions.map(\.text) == ["a enter Kitchen"])
    }

    @Test func `When a tag is removed during a round of states, no state is left out`() throws {
        var stored = StoredSite()
        _ = stored.regions.apply((1...120).map { SiteFleet.change("T\($0):\($0)") })
        stored.listVersion = TagList.Version(1, "a")
        let withoutStates = stored
        for number in 1...120 { stored.states["t\(number)"] = PublishedTag(name: "", since: 1_600_000_000) }
        var fleet = SiteFleet()
        fleet.start("a", stored: stored)
        fleet.run(15)
        fleet.start("b", stored: withoutStates)
        for _ in 0..<10 where fleet.role("b") != .standby { fleet.run(1) }
        // The round has begun in this moment.
        let first = try #require(fleet.services["a"]?.tags.first)
        fleet.edit("a", .remove(rid: first.id))
        fleet.run(15)
        let left = try #require(fleet.services["b"]).tags
        #expect(left.count == 119)
        #expect(left.filter { state(of: $0.id, at: "b", in: fleet)?.since != 1_600_000_000 } == [])
    }

    @Test func `Cards of invented services cause a round of states every ten seconds at most, fifty in each part`() {
        var states = StateRound()
        var now = MonotonicInstant.zero
        var sent = 0
        var parts: [Int] = []
        for _ in 0..<8 * 60 {
            states.want(at: now)
            while let due = states.due, due <= now {
                parts.append(states.part(of: 120, at: now).count)
                sent += parts.last ?? 0
            }
            now = now.advanced(by: .milliseconds(125))
        }
        #expect(sent <= 6 * 120 && sent >= 5 * 120)
        #expect(parts.prefix(4) == [50, 50, 20, 50])
    }
}
