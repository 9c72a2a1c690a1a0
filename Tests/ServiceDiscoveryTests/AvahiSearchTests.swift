import DBus
import DBusSupport
import ServiceDiscovery
import Testing

/// A search by Avahi, whose answers the test writes.
@Suite struct AvahiSearchTests {
    private final class Search {
        let bus = ScriptedBus()
        private(set) var ends = 0
        private(set) lazy var search = AvahiSearch("_mqtt._tcp", bus: bus) { [unowned self] in ends += 1 }

        init() { search.start() }

        /// Avahi names an instance.
        func announce(_ name: String, interface: Int32 = 2) {
            signal("ItemNew") { item in
                item.int32(interface)
                item.int32(0)
                item.string(name)
                item.string("_mqtt._tcp")
                item.string("local")
                item.uint32(0)
            }
        }

        func signal(_ member: String, _ body: (inout BusWriter) -> Void = { _ in }) {
            bus.signal("/Client0/ServiceBrowser0", "org.freedesktop.Avahi.ServiceBrowser", member, body)
        }

        /// Avahi answers the oldest request for an address.
        func resolve(_ name: String, host: String, address: String, port: UInt16) {
            bus.answer("ResolveService") { answer in
                answer.int32(2)
                answer.int32(0)
                answer.string(name)
                answer.string("_mqtt._tcp")
                answer.string("local")
                answer.string(host)
                answer.int32(0)
                answer.string(address)
                answer.uint16(port)
                answer.container(BusType.array, "ay") { _ in }
                answer.uint32(0)
            }
        }
    }

    @Test func `An instance is found with its host, address and port`() {
        let search = Search()
        search.bus.answer("ServiceBrowserNew") { $0.path("/Client0/ServiceBrowser0") }
        search.announce("Home Broker")
        search.signal("AllForNow")
        #expect(search.ends == 0)
        search.resolve("Home Broker", host: "house.local", address: "192.168.1.7", port: 1884)
        #expect(search.ends == 1)
        let found = search.search.found
        #expect(found.map(\.instance) == ["Home Broker"])
        #expect(found.map(\.host) == ["house.local"])
        #expect(found.map(\.address) == ["192.168.1.7"])
        #expect(found.map(\.port) == [1884])
    }

    @Test func `An instance that is named before the browser's own answer is not missed`() {
        let search = Search()
        search.announce("Early")
        search.bus.answer("ServiceBrowserNew") { $0.path("/Client0/ServiceBrowser0") }
        search.signal("AllForNow")
        search.resolve("Early", host: "early.local", address: "10.0.0.1", port: 1883)
        #expect(search.search.found.map(\.instance) == ["Early"])
    }

    @Test func `A network without an instance ends the search`() {
        let search = Search()
        search.bus.answer("ServiceBrowserNew") { $0.path("/Client0/ServiceBrowser0") }
        search.signal("AllForNow")
        #expect(search.ends == 1)
        #expect(search.search.found.isEmpty)
    }

    @Test func `A machine without Avahi ends the search at once`() {
        let search = Search()
        search.bus.refuse("ServiceBrowserNew", with: "org.freedesktop.DBus.Error.ServiceUnknown")
        #expect(search.ends == 1)
    }

    @Test func `An instance without an address does not hide another one`() {
        let search = Search()
        search.announce("Gone")
        search.announce("Here")
        search.signal("AllForNow")
        search.bus.refuse("ResolveService", with: "org.freedesktop.Avahi.TimeoutError")
        #expect(search.ends == 0)
        search.resolve("Here", host: "here.local", address: "10.0.0.2", port: 1883)
        #expect(search.ends == 1)
        #expect(search.search.found.map(\.instance) == ["Here"])
    }

    @Test func `One instance that two network interfaces see is found once`() {
        let search = Search()
        for interface: Int32 in [2, 3] { search.announce("Home", interface: interface) }
        search.signal("AllForNow")
        for _ in 1...2 { search.resolve("Home", host: "house.local", address: "10.0.0.2", port: 1883) }
        #expect(search.search.found.count == 1)
    }

    @Test func `Of a flood of instances only so many are asked for`() {
        let search = Search()
        for number in 0..<1000 { search.announce("n\(number)") }
        #expect(search.bus.calls.filter { $0.hasPrefix("ResolveService") }.count == 32)
    }

    @Test func `A signal with other arguments than Avahi's is ignored`() {
        let search = Search()
        search.signal("ItemNew") { $0.string("no number") }
        search.signal("ItemNew")
        #expect(search.bus.calls.filter { $0.hasPrefix("ResolveService") }.isEmpty)
    }

    @Test func `A bus that goes away ends the search`() {
        let search = Search()
        search.bus.breaks()
        #expect(search.ends == 1)
    }
}
