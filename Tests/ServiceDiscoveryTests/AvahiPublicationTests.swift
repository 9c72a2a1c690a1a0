import DBus
import DBusSupport
import ServiceDiscovery
import Testing

/// A publication by Avahi, whose answers the test writes.
@Suite struct AvahiPublicationTests {
    private final class Fixture {
        let bus = ScriptedBus()
        private(set) var changes = 0
        private(set) lazy var publication = AvahiPublication(
            .init(instance: "ibg-kitchen", kind: "_esphomelib._tcp", port: 6053, records: ["mac=0123", "version=1"]),
            bus: bus
        ) { [unowned self] in changes += 1 }

        init() { publication.start() }

        func publish() {
            bus.answer("EntryGroupNew") { $0.path("/Client1/EntryGroup1") }
            bus.answer("AddService")
            bus.answer("Commit")
            bus.answer("GetState") { $0.int32(2) }
        }

        func state(_ number: Int32, of group: String = "/Client1/EntryGroup1") {
            bus.signal(group, "org.freedesktop.Avahi.EntryGroup", "StateChanged") { signal in
                signal.int32(number)
                signal.string("org.freedesktop.Avahi.Success")
            }
        }

        /// The bus says who has Avahi's name.
        func owner(_ name: String) {
            bus.signal("/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged") { signal in
                signal.string("org.freedesktop.Avahi")
                signal.string("")
                signal.string(name)
            }
        }
    }

    private let fixture = Fixture()

    @Test func `A service is announced when Avahi has taken all of it, and nobody else has its name`() {
        fixture.bus.answer("EntryGroupNew") { $0.path("/Client1/EntryGroup1") }
        #expect(fixture.bus.calls == ["AddService EntryGroup1"])
        fixture.bus.answer("AddService")
        #expect(!fixture.publication.isPublished)
        fixture.bus.answer("Commit", of: "/Client1/EntryGroup1")
        fixture.bus.answer("GetState") { $0.int32(1) }
        #expect(!fixture.publication.isPublished && fixture.publication.problem == nil)
        fixture.state(2)
        #expect(fixture.publication.isPublished && fixture.publication.problem == nil)
        #expect(fixture.changes == 1)
    }

    @Test(
        arguments: [
            (3, "another device of this network is called ibg-kitchen"), (4, "Avahi failed to announce it"),
        ] as [(Int32, String)])
    func `A name that another device has is told, also later`(state: Int32, problem: String) {
        fixture.publish()
        fixture.state(state, of: "/Client1/EntryGroup2")
        #expect(fixture.publication.isPublished)
        fixture.state(state)
        #expect(!fixture.publication.isPublished && fixture.publication.problem == problem)
    }

    @Test(arguments: ["EntryGroupNew", "AddService", "Commit", "GetState"])
    func `What Avahi refuses is told, and ends the attempt`(member: String) {
        if member != "EntryGroupNew" { fixture.bus.answer("EntryGroupNew") { $0.path("/Client1/EntryGroup1") } }
        if ["Commit", "GetState"].contains(member) { fixture.bus.answer("AddService") }
        if member == "GetState" { fixture.bus.answer("Commit") }
        fixture.bus.refuse(member, with: "org.freedesktop.Avahi.CollisionError")
        #expect(!fixture.publication.isPublished)
        #expect(fixture.publication.problem == "org.freedesktop.Avahi.CollisionError: no")
        #expect(fixture.bus.calls.isEmpty)
    }

    @Test(arguments: [3, 4] as [Int32])
    func `What Avahi failed to announce is given back, and announced when it is tried again`(state: Int32) {
        fixture.publish()
        fixture.state(state)
        #expect(fixture.bus.sent.map { "\($0.member) \($0.path)" } == ["Free /Client1/EntryGroup1"])
        #expect(fixture.publication.mayTryAgain)
        fixture.publication.tryAgain()
        fixture.publication.tryAgain()
        #expect(fixture.bus.calls == ["EntryGroupNew"])
        let problem = fixture.publication.problem
        fixture.bus.answer("EntryGroupNew") { $0.path("/Client1/EntryGroup1") }
        fixture.state(1)
        #expect(fixture.publication.problem == problem && problem != nil)
        fixture.bus.answer("AddService")
        fixture.bus.answer("Commit")
        fixture.bus.answer("GetState") { $0.int32(2) }
        #expect(fixture.publication.isPublished && fixture.publication.problem == nil)
    }

    @Test func `Where no Avahi runs, its start is waited for, and nothing is tried`() {
        fixture.bus.refuse("EntryGroupNew", with: "org.freedesktop.DBus.Error.ServiceUnknown")
        fixture.publication.tryAgain()
        #expect(fixture.publication.problem != nil && fixture.bus.calls.isEmpty)
        fixture.owner(":1.9")
        fixture.publish()
        fixture.owner("")
        fixture.publication.tryAgain()
        #expect(fixture.bus.calls.isEmpty)
    }

    @Test func `After a restart of Avahi the service is announced again`() {
        fixture.publish()
        fixture.owner("")
        #expect(!fixture.publication.isPublished)
        #expect(fixture.publication.problem == "avahi-daemon does not run")
        fixture.owner(":1.9")
        fixture.publish()
        #expect(fixture.publication.isPublished)
    }

    @Test func `An answer to an earlier attempt counts no more`() {
        fixture.owner(":1.9")
        fixture.bus.refuse("EntryGroupNew")
        #expect(fixture.publication.problem == nil)
        fixture.publish()
        #expect(fixture.publication.isPublished)
    }

    @Test func `The end of the connection to the bus is told, because Avahi withdraws the service then`() {
        fixture.publish()
        fixture.bus.breaks()
        #expect(fixture.publication.hasEnded && !fixture.publication.isPublished)
        #expect(fixture.publication.problem != nil)
    }

    @Test func `What is stopped closes the connection and changes no more`() {
        fixture.publication.stop()
        fixture.publish()
        #expect(!fixture.bus.isOpen)
        #expect(fixture.changes == 0)
    }
}
