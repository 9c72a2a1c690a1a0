import Beacon
import DBus
import DBusSupport
import HostSupport
import Scanning
import Testing

@testable import BlueZScanning

@Suite struct BlueZScannerTests {
    @Test func `A monitor asks bluetoothd for no more patterns than it survives, iBeacons first`() {
        #expect(BeaconMonitorObject.patterns.first == .iBeacon)
        // One octet for the length of the request, and one for the number of patterns in it.
        #expect(BeaconMonitorObject.patterns.count * 34 + 1 <= 255)
    }

    private let fixture = BlueZFixture()
    private let device = "/org/bluez/hci0/dev_C0_00_00_00_00_0A"

    /// A scanner whose monitors are active on these adapters.
    private func listening(on adapters: [Int] = [0]) throws -> BlueZScanner {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: adapters, offersMonitor: true)
        for number in adapters {
            fixture.bus.answer("RegisterMonitor", of: "/org/bluez/hci\(number)")
            fixture.activates(number)
        }
        #expect(fixture.drainEvents().sorted() == adapters.map { "\($0) listens" })
        return scanner
    }

    @Test func `Without a bus the scanner cannot start`() {
        fixture.hasBus = false
        let scanner = fixture.makeScanner()
        #expect(throws: ScannerError.self) { try scanner.start() }
    }

    @Test(arguments: [true, false])
    func `Where bluetoothd offers a monitor, it listens when bluetoothd activates it`(isManagerFirst: Bool) throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], offersMonitor: true, isManagerFirst: isManagerFirst)
        #expect(fixture.bus.calls == ["RegisterMonitor hci0"])
        fixture.bus.answer("RegisterMonitor")
        #expect(fixture.events.isEmpty)
        fixture.activates()
        #expect(fixture.drainEvents() == ["0 listens"])
        #expect(scanner.adapters.map(\.isListening) == [true])
    }

    @Test func `Without a monitor it discovers, and listens when that is granted and on`() throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], offersMonitor: false)
        #expect(fixture.bus.calls == ["SetDiscoveryFilter hci0", "StartDiscovery hci0"])
        fixture.discovers()
        #expect(fixture.drainEvents() == ["0 listens"])
        #expect(scanner.adapters.count == 1)
        #expect(scanner.problem == nil)
    }

    @Test func `A bluetoothd that does not answer is named after ten seconds, until it does`() throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        #expect(fixture.bus.calls == ["GetManagedObjects"])
        fixture.bus.longestWait = .seconds(9)
        fixture.host.advance(by: .seconds(2))
        #expect(scanner.problem == nil && fixture.notices.isEmpty)
        fixture.bus.longestWait = .seconds(10)
        fixture.host.advance(by: .seconds(3))
        #expect(scanner.problem?.text == "bluetoothd does not answer")
        #expect(fixture.notices.count == 1, "one line")
        fixture.bus.longestWait = nil
        fixture.host.advance(by: .seconds(1))
        #expect(scanner.problem == nil)
    }

    @Test func `A discovery that is asked for anew and not answered does not listen, and does with the answer`() throws
    {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], offersMonitor: false)
        fixture.discovers()
        #expect(fixture.drainEvents() == ["0 listens"])
        fixture.host.advance(by: .seconds(15))
        #expect(fixture.bus.calls.last == "StartDiscovery hci0")
        #expect(fixture.events.isEmpty, "until the answer it counts as on")
        fixture.bus.longestWait = .seconds(10)
        fixture.host.advance(by: .seconds(1))
        #expect(fixture.drainEvents() == ["0 is deaf"])
        #expect(scanner.problem?.text == "bluetoothd does not answer")
        fixture.bus.longestWait = nil
        fixture.discovers()
        #expect(fixture.drainEvents() == ["0 listens"])
        #expect(scanner.problem == nil)
    }

    @Test func `A discovery is asked for every report, whatever its strength`() throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], offersMonitor: false)
        let filter = fixture.bus.dictionary(of: "SetDiscoveryFilter")
        #expect(filter == ["Transport": "le", "DuplicateData": "true", "RSSI": "-127"])
        #expect(scanner.adapters.count == 1)
    }

    @Test(arguments: [true, false])
    func `A discovery that is answered and not on two seconds later does not listen, and is asked for again`(
        isGranted: Bool
    ) throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], offersMonitor: false)
        for _ in 0..<3 {
            fixture.bus.answer("SetDiscoveryFilter")
            if isGranted {
                fixture.bus.answer("StartDiscovery")
            } else {
                fixture.bus.refuse("StartDiscovery", with: "org.bluez.Error.InProgress")
            }
            #expect(!scanner.adapters.contains { $0.isListening })
            fixture.host.advance(by: .seconds(2))
            #expect(!fixture.bus.calls.contains("StartDiscovery hci0"))
            fixture.host.advance(by: .seconds(2))
            #expect(fixture.bus.calls == ["StopDiscovery hci0", "SetDiscoveryFilter hci0", "StartDiscovery hci0"])
            fixture.bus.refuse("StopDiscovery")
        }
        #expect(fixture.drainEvents() == ["0 is deaf"])
        #expect(fixture.notices.count == 1, "one line")
        #expect(fixture.notices.first?.hasPrefix("hci0: no discovery: bluetoothd ") == true)
        #expect(scanner.problem?.description == fixture.notices.first)
        fixture.discovers()
        #expect(fixture.drainEvents() == ["0 listens"])
        #expect(scanner.problem == nil)
    }

    @Test func `A discovery in which nothing is heard is asked for anew, ever more rarely, and listens meanwhile`()
        throws
    {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], offersMonitor: false)
        fixture.discovers()
        _ = fixture.drainEvents()
        for silence in [15, 30, 60] {
            fixture.host.advance(by: .seconds(silence - 1))
            #expect(fixture.bus.calls.isEmpty)
            fixture.host.advance(by: .seconds(1))
            #expect(fixture.bus.calls == ["StopDiscovery hci0", "SetDiscoveryFilter hci0", "StartDiscovery hci0"])
            fixture.bus.answer("StopDiscovery")
            fixture.changes(0, "Discovering", false)
            fixture.discovers()
        }
        #expect(fixture.events.isEmpty)
        // Any device is evidence, also one that is no beacon.
        for _ in 0..<5 {
            fixture.changed(device, "org.bluez.Device1") { $0.property("RSSI", "n") { $0.int16(-72) } }
            fixture.adds(device: "/org/bluez/hci0/dev_C0_00_00_00_00_0B")
            fixture.host.advance(by: .seconds(14))
            #expect(fixture.bus.calls.isEmpty)
        }
        fixture.host.advance(by: .seconds(1))
        #expect(fixture.bus.calls.count == 3)
        #expect(scanner.adapters.map(\.isListening) == [true])
    }

    @Test
    func `A round that the controller refuses is found by that, although bluetoothd still says that it discovers`()
        throws
    {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], offersMonitor: false)
        fixture.discovers()
        fixture.host.advance(by: .seconds(15))
        _ = fixture.drainEvents()
        fixture.bus.answer("StopDiscovery")
        fixture.changes(0, "Discovering", false)
        fixture.bus.answer("SetDiscoveryFilter")
        fixture.bus.refuse("StartDiscovery", with: "org.bluez.Error.InProgress")
        fixture.host.advance(by: .seconds(2))
        #expect(fixture.drainEvents() == ["0 is deaf"])
        #expect(scanner.problem != nil)
    }

    @Test(arguments: [
        "org.bluez.Error.NotReady", "org.bluez.Error.Failed", "org.bluez.Error.NotAuthorized",
        "org.freedesktop.DBus.Error.AccessDenied", "org.freedesktop.DBus.Error.UnknownMethod", "x.y",
    ])
    func `Whatever error a discovery is refused with is said once, and it is asked for every two seconds`(
        name: String
    ) throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], offersMonitor: false)
        for _ in 0..<3 {
            fixture.bus.answer("SetDiscoveryFilter")
            fixture.bus.refuse("StartDiscovery", with: name)
            fixture.host.advance(by: .seconds(2))
            fixture.bus.refuse("StopDiscovery")
        }
        #expect(fixture.drainEvents() == ["0 is deaf"])
        #expect(fixture.notices.count == 1)
        #expect(fixture.notices.first?.hasPrefix("hci0: no discovery: \(name): no; ") == true)
        #expect(scanner.problem != nil)
    }

    @Test func `An answer that comes after the adapter was unplugged has no consequence`() throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], offersMonitor: false)
        fixture.removes(adapter: 0)
        fixture.bus.refuse("StartDiscovery", with: "org.freedesktop.DBus.Error.UnknownObject")
        fixture.host.advance(by: .seconds(60))
        #expect(fixture.bus.calls == ["SetDiscoveryFilter hci0"])
        #expect(scanner.problem?.text == "there is no Bluetooth adapter")
    }

    @Test func `An adapter that was unplugged while it was switched on is not said to stay off`() throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], isPowered: false, offersMonitor: false)
        fixture.removes(adapter: 0)
        fixture.bus.refuse("Set", with: "org.freedesktop.DBus.Error.UnknownObject")
        fixture.host.advance(by: .seconds(60))
        #expect(fixture.bus.calls.isEmpty)
        #expect(!fixture.notices.contains { $0.hasPrefix("hci0") })
        #expect(scanner.adapters.map(\.isListening) == [false])
    }

    @Test func `Another program's change while a discovery waits to be tried again does not hasten it`() throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], offersMonitor: false)
        fixture.bus.refuse("StartDiscovery")
        fixture.bus.answer("SetDiscoveryFilter")
        fixture.changes(0, "Discovering", true)
        fixture.changes(0, "Discovering", false)
        #expect(fixture.bus.calls.isEmpty)
        #expect(scanner.adapters.map(\.isListening) == [false])
    }

    @Test func `A monitor that is refused is followed by a discovery, and not asked for again`() throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], offersMonitor: true)
        fixture.bus.refuse("RegisterMonitor")
        #expect(fixture.bus.calls.contains("StartDiscovery hci0"))
        fixture.bus.refuse("StartDiscovery")
        fixture.host.advance(by: .seconds(2))
        #expect(!fixture.bus.calls.contains("RegisterMonitor hci0"))
        #expect(fixture.bus.calls.contains("StartDiscovery hci0"))
        #expect(scanner.adapters.map(\.isListening) == [false])
    }

    @Test func `The discovery of another program is listened to where the own one fails, and no longer than it is on`()
        throws
    {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], offersMonitor: false)
        fixture.changes(0, "Discovering", true)
        fixture.bus.refuse("StartDiscovery", with: "org.bluez.Error.InProgress")
        #expect(fixture.events.isEmpty)
        fixture.host.advance(by: .seconds(2))
        #expect(fixture.drainEvents() == ["0 listens"])
        fixture.changes(0, "Discovering", false)
        #expect(fixture.drainEvents() == ["0 is deaf"])
        #expect(scanner.adapters.count == 1)
    }

    @Test func `A discovery that others end is begun again after the longest pause of bluetoothd`() throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], offersMonitor: false)
        fixture.discovers()
        _ = fixture.drainEvents()
        // A pause between two rounds is shorter.
        fixture.changes(0, "Discovering", false)
        fixture.host.advance(by: .seconds(5))
        fixture.changes(0, "Discovering", true)
        fixture.host.advance(by: .seconds(9))
        #expect(fixture.drainEvents().isEmpty)
        fixture.changes(0, "Discovering", false)
        fixture.host.advance(by: .seconds(8))
        #expect(fixture.drainEvents() == ["0 is deaf"])
        fixture.discovers()
        #expect(fixture.drainEvents() == ["0 listens"])
        #expect(scanner.adapters.map(\.restarts) == [1])
    }

    @Test func `An adapter that is off is switched on, again after two seconds if that is refused`() throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], isPowered: false, offersMonitor: true)
        #expect(fixture.bus.calls == ["Set hci0"])
        fixture.bus.refuse("Set")
        fixture.host.advance(by: .seconds(2))
        #expect(fixture.bus.calls == ["Set hci0"])
        fixture.bus.answer("Set")
        fixture.changes(0, "Powered", true)
        #expect(fixture.bus.calls == ["RegisterMonitor hci0"])
        #expect(scanner.adapters.map(\.isListening) == [false])
    }

    @Test func `An adapter that stays off is deaf and said to be off, once, with what to do`() throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], isPowered: false, offersMonitor: true)
        for _ in 0..<3 {
            fixture.bus.refuse("Set", with: "org.bluez.Error.NotReady")
            fixture.host.advance(by: .seconds(2))
        }
        #expect(fixture.drainEvents() == ["0 is deaf"])
        #expect(
            fixture.notices == [
                "hci0: off; bluetoothd does not switch it on: org.bluez.Error.NotReady: no; by hand: bluetoothctl power on; "
                    + "rfkill list shows whether it is blocked"
            ])
        #expect(scanner.problem?.description == fixture.notices.first)
    }

    @Test func `An adapter that bluetoothd agrees to switch on and that stays off is said to be off`() throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], isPowered: false, offersMonitor: true)
        fixture.bus.answer("Set")
        fixture.host.advance(by: .seconds(3))
        #expect(fixture.drainEvents() == ["0 is deaf"])
        #expect(
            fixture.notices.first?.hasPrefix("hci0: off; bluetoothd agreed to switch it on, and it stays off") == true)
        fixture.host.advance(by: .seconds(2))
        #expect(fixture.bus.calls == ["Set hci0"])
        #expect(scanner.adapters.map(\.isListening) == [false])
    }

    @Test(arguments: ["the error", "the property", "the kernel"])
    func `An adapter that rfkill blocks is said to be blocked, whoever says it`(who: String) throws {
        fixture.isBlocked = who == "the kernel"
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], isPowered: false, offersMonitor: true)
        if who == "the property" {
            fixture.changed("/org/bluez/hci0", "org.bluez.Adapter1") { properties in
                properties.property("PowerState", "s") { $0.string("off-blocked") }
            }
        }
        fixture.bus.refuse("Set", with: who == "the error" ? "org.bluez.Error.Blocked" : "org.bluez.Error.Failed")
        #expect(fixture.notices == ["hci0: off, and blocked by rfkill; to unblock: rfkill unblock bluetooth"])
        #expect(scanner.problem != nil)
    }

    @Test func `A monitor that bluetoothd takes and does not activate is followed by a discovery`() throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], offersMonitor: true)
        fixture.bus.answer("RegisterMonitor")
        fixture.host.advance(by: .seconds(3))
        fixture.discovers()
        #expect(fixture.drainEvents() == ["0 listens"])
        #expect(scanner.adapters.count == 1)
    }

    @Test func `Where bluetoothd has no adapter, or not the one that is named, that is said`() throws {
        let scanner = fixture.makeScanner(selection: .anyOf([.index(1)]))
        try scanner.start()
        fixture.shows(adapters: [0], offersMonitor: true)
        #expect(fixture.notices.count == 1)
        #expect(
            fixture.notices.first?.contains("hci1 of the setting 'adapter' is not there; there is hci0 (AA:") == true)
        fixture.removes(adapter: 0)
        #expect(scanner.problem?.text.hasPrefix("there is no Bluetooth adapter") == false, "it was not ours")
    }

    @Test func `A bus that refuses the scanner is no missing bluetoothd`() throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.bus.refuse("GetManagedObjects", with: "org.freedesktop.DBus.Error.AccessDenied")
        #expect(
            fixture.notices.first?.contains("bluetoothd tells nothing: org.freedesktop.DBus.Error.AccessDenied") == true
        )
        #expect(scanner.problem != nil)
    }

    @Test func `A bus that refused the scanner is asked again, and the reason is told once`() throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        for _ in 1...3 {
            fixture.bus.refuse("GetManagedObjects", with: "org.freedesktop.DBus.Error.AccessDenied")
            fixture.host.advance(by: .seconds(4))
            #expect(!fixture.bus.calls.contains { $0.hasPrefix("GetManagedObjects") })
            fixture.host.advance(by: .seconds(1))
        }
        #expect(fixture.notices.count == 1)
        fixture.shows(adapters: [0], offersMonitor: false)
        fixture.discovers()
        #expect(fixture.drainEvents() == ["0 listens"])
        #expect(scanner.problem == nil)
        fixture.host.advance(by: .seconds(60))
        #expect(!fixture.bus.calls.contains { $0.hasPrefix("GetManagedObjects") })
    }

    @Test func `An adapter that is switched off is deaf, and is switched on`() throws {
        let scanner = try listening()
        fixture.changes(0, "Powered", false)
        #expect(fixture.drainEvents() == ["0 is deaf"])
        #expect(fixture.bus.calls == ["Set hci0"])
        #expect(scanner.adapters.map(\.isListening) == [false])
    }

    @Test func `The monitor that bluetoothd kept while the adapter was off is used again`() throws {
        let scanner = try listening()
        for _ in 0..<2 {
            fixture.changes(0, "Powered", false)
            fixture.bus.answer("Set")
            fixture.changes(0, "Powered", true)
            #expect(fixture.drainEvents() == ["0 is deaf"])
            #expect(fixture.bus.calls == ["RegisterMonitor hci0"])
            fixture.bus.refuse("RegisterMonitor", with: "org.bluez.Error.AlreadyExists")
            #expect(fixture.drainEvents() == ["0 listens"])
            #expect(fixture.bus.calls.isEmpty, "no discovery")
        }
        #expect(scanner.adapters.map(\.restarts) == [2])
    }

    @Test func `A monitor that bluetoothd has released, and says exists, does not count as listening`() throws {
        let scanner = try listening()
        fixture.bus.callsMonitor("Release")
        fixture.host.advance(by: .seconds(2))
        fixture.bus.refuse("RegisterMonitor", with: "org.bluez.Error.AlreadyExists")
        #expect(fixture.drainEvents() == ["0 is deaf"])
        #expect(fixture.bus.calls.contains("StartDiscovery hci0"))
        #expect(scanner.adapters.map(\.isListening) == [false])
    }

    @Test func `A monitor that bluetoothd released while the adapter was off does not count as listening`() throws {
        let scanner = try listening()
        fixture.changes(0, "Powered", false)
        fixture.bus.answer("Set")
        fixture.bus.callsMonitor("Release")
        fixture.changes(0, "Powered", true)
        fixture.bus.refuse("RegisterMonitor", with: "org.bluez.Error.AlreadyExists")
        #expect(fixture.drainEvents() == ["0 is deaf"])
        #expect(fixture.bus.calls.contains("StartDiscovery hci0"))
        #expect(scanner.adapters.map(\.isListening) == [false])
    }

    @Test func `Each adapter registers the monitor that bluetoothd finds under the adapter's own root`() throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0, 1], offersMonitor: true)
        #expect(fixture.bus.calls.sorted() == ["RegisterMonitor hci0", "RegisterMonitor hci1"])
        for number in [0, 1] {
            let root = "/org/ibeacon_gateway/hci\(number)"
            #expect(fixture.bus.roots(of: "RegisterMonitor").contains(root))
            fixture.bus.call(of: root, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects") { _ in }
            #expect(fixture.bus.sent.last.map(objects) == ["\(root)/monitor"])
        }
        fixture.bus.call(of: "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects") { _ in }
        #expect(fixture.bus.sent.last?.isError == true)
        #expect(scanner.adapters.count == 2)
    }

    /// The paths in an answer to GetManagedObjects.
    private func objects(_ answer: BusMessage) -> [String] {
        var paths: [String] = []
        answer.reader.forEach { if let path = $0.inside?.string { paths.append(path) } }
        return paths
    }

    @Test func `Of two adapters, only the one whose monitor is activated listens`() throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0, 1], offersMonitor: true)
        for number in [0, 1] { fixture.bus.answer("RegisterMonitor", of: "/org/bluez/hci\(number)") }
        fixture.activates(1)
        #expect(fixture.drainEvents() == ["1 listens"])
        #expect(scanner.adapters.map(\.isListening) == [false, true])
    }

    @Test func `The release of one adapter's monitor leaves that of the other one alone`() throws {
        let scanner = try listening(on: [0, 1])
        // As when it is unplugged.
        fixture.bus.callsMonitor("Release", of: 1)
        fixture.removes(adapter: 1)
        #expect(fixture.drainEvents() == ["1 is deaf"])
        fixture.host.advance(by: .seconds(60))
        #expect(fixture.bus.calls.isEmpty, "the other one is asked for nothing")
        // bluetoothd keeps the other one's monitor while that is off.
        fixture.changes(0, "Powered", false)
        fixture.bus.answer("Set")
        fixture.changes(0, "Powered", true)
        fixture.bus.refuse("RegisterMonitor", with: "org.bluez.Error.AlreadyExists")
        #expect(fixture.drainEvents() == ["0 is deaf", "0 listens"])
        #expect(scanner.adapters.map(\.isListening) == [true, false])
    }

    @Test func `Of two adapters, the one that is unplugged is deaf`() throws {
        let scanner = try listening(on: [0, 1])
        fixture.removes(adapter: 1)
        #expect(fixture.drainEvents() == ["1 is deaf"])
        #expect(scanner.adapters.map(\.isListening) == [true, false])
    }

    @Test func `An adapter that was not chosen is left alone, and nothing is heard through it`() throws {
        let scanner = fixture.makeScanner(selection: .index(1))
        try scanner.start()
        fixture.shows(adapters: [0, 1], offersMonitor: true)
        #expect(fixture.bus.calls == ["RegisterMonitor hci1"])
        // Another program's discovery.
        fixture.adds(device: device)
        fixture.changes(0, "Powered", false)
        fixture.bluetoothd(isRunning: false)
        #expect(!fixture.events.contains { $0.hasPrefix("0") })
        #expect(scanner.adapters.map(\.name) == ["hci1"])
    }

    @Test func `When bluetoothd ends it is deaf, and when it begins all is asked for anew`() throws {
        let scanner = try listening()
        fixture.bluetoothd(isRunning: false)
        #expect(fixture.drainEvents() == ["0 is deaf"])
        fixture.bluetoothd(isRunning: true)
        fixture.shows(adapters: [0], offersMonitor: true)
        fixture.bus.answer("RegisterMonitor")
        fixture.activates()
        #expect(fixture.drainEvents() == ["0 listens"])
        #expect(scanner.adapters.map(\.restarts) == [1])
    }

    @Test func `Nothing is heard through an adapter before it listens, and it is reported deaf when bluetoothd ends`()
        throws
    {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], offersMonitor: true)
        // Another program's discovery.
        fixture.adds(device: device)
        #expect(fixture.events.isEmpty)
        fixture.bluetoothd(isRunning: false)
        #expect(fixture.drainEvents() == ["0 is deaf"])
        #expect(scanner.adapters.map(\.isListening) == [false])
    }

    @Test func `What another program's discovery hears does not count while the own one is refused`() throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], offersMonitor: false)
        fixture.bus.refuse("StartDiscovery")
        fixture.adds(device: device)
        #expect(fixture.drainEvents() == ["0 is deaf"])
        fixture.host.advance(by: .seconds(2))
        fixture.discovers()
        fixture.changed(device, "org.bluez.Device1") { $0.property("RSSI", "n") { $0.int16(-72) } }
        #expect(fixture.drainEvents() == ["0 listens", "0 heard"])
        #expect(scanner.adapters.map(\.reports) == [1])
    }

    @Test func `A discovery that is refused from the start is reported deaf, once`() throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], offersMonitor: false)
        for _ in 0..<3 {
            fixture.bus.refuse("StartDiscovery")
            fixture.host.advance(by: .seconds(2))
        }
        #expect(fixture.drainEvents() == ["0 is deaf"])
        #expect(scanner.adapters.map(\.isListening) == [false])
    }

    @Test func `A bluetoothd that does not run is told of once, with what to do`() throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.bus.refuse("GetManagedObjects", with: "org.freedesktop.DBus.Error.ServiceUnknown")
        fixture.bluetoothd(isRunning: true)
        fixture.bus.refuse("GetManagedObjects", with: "org.freedesktop.DBus.Error.ServiceUnknown")
        #expect(
            fixture.notices == ["bluez: bluetoothd is not running; start it: sudo systemctl start bluetooth"])
        #expect(scanner.adapters.isEmpty)
    }

    @Test func `A bus that is lost is connected to again every five seconds`() throws {
        let scanner = try listening()
        fixture.hasBus = false
        fixture.bus.breaks()
        #expect(fixture.drainEvents() == ["0 is deaf"])
        fixture.host.advance(by: .seconds(12))
        #expect(fixture.connections == 1)
        fixture.hasBus = true
        fixture.host.advance(by: .seconds(5))
        #expect(fixture.connections == 2)
        #expect(fixture.bus.calls.count == 1, "GetManagedObjects")
        #expect(scanner.adapters.map(\.isListening) == [false])
    }

    @Test func `A monitor that bluetoothd releases is asked for again after two seconds`() throws {
        let scanner = try listening()
        fixture.bus.callsMonitor("Release")
        #expect(fixture.drainEvents() == ["0 is deaf"])
        #expect(fixture.bus.calls.isEmpty)
        fixture.host.advance(by: .seconds(2))
        #expect(fixture.bus.calls == ["RegisterMonitor hci0"])
        #expect(scanner.adapters.count == 1)
    }

    @Test func `A device that is added is heard with its data and strength`() throws {
        let scanner = try listening()
        fixture.adds(device: device)
        #expect(fixture.drainEvents() == ["0 heard"])
        #expect(fixture.strengths == [-60])
        #expect(fixture.data == [[6, 0xff, 0x4c, 0x00, 0x02, 0x15, 7]])
        fixture.changed(device, "org.bluez.Device1") { $0.property("RSSI", "n") { $0.int16(-72) } }
        #expect(fixture.drainEvents() == ["0 heard"])
        #expect(fixture.strengths == [-60, -72])
        #expect(scanner.adapters.map(\.reports) == [2])
    }

    @Test func `Telemetry is heard before the iBeacon that bluetoothd reports beside it`() throws {
        let scanner = try listening()
        fixture.adds(device: device)
        _ = fixture.drainEvents()
        fixture.changes(device, service: "0000feaa-0000-1000-8000-00805f9b34fb", [0x20, 0x00, 0x0b])
        #expect(fixture.drainEvents() == ["0 heard", "0 heard"])
        #expect(
            fixture.data.suffix(2) == [[6, 0x16, 0xaa, 0xfe, 0x20, 0x00, 0x0b], [6, 0xff, 0x4c, 0x00, 0x02, 0x15, 7]])
        fixture.changes(device, service: "0000fd6f-0000-1000-8000-00805f9b34fb", [1])
        #expect(fixture.drainEvents() == ["0 heard"], "another service is not read")
        #expect(scanner.adapters.map(\.reports) == [3])
    }

    @Test func `A change that tells of no advertisement is no report`() throws {
        let scanner = try listening()
        fixture.adds(device: device)
        _ = fixture.drainEvents()
        fixture.changed(device, "org.bluez.Device1") { $0.property("Connected", "b") { $0.boolean(true) } }
        #expect(fixture.events.isEmpty)
        #expect(scanner.adapters.map(\.reports) == [1])
    }

    @Test func `While bluetoothd reports a device present, it counts as heard each second`() throws {
        let scanner = try listening()
        fixture.adds(device: device)
        fixture.bus.callsMonitor("DeviceFound") { $0.path(device) }
        _ = fixture.drainEvents()
        fixture.host.advance(by: .seconds(3))
        #expect(fixture.drainEvents() == ["0 heard", "0 heard", "0 heard"])
        fixture.bus.callsMonitor("DeviceLost") { $0.path(device) }
        fixture.host.advance(by: .seconds(3))
        #expect(fixture.events.isEmpty)
        #expect(scanner.adapters.map(\.reports) == [4])
    }

    @Test func `A device that a released monitor had found no longer counts as heard each second`() throws {
        let scanner = try listening()
        fixture.adds(device: device)
        fixture.bus.callsMonitor("DeviceFound") { $0.path(device) }
        fixture.bus.callsMonitor("Release")
        fixture.host.advance(by: .seconds(2))
        fixture.bus.refuse("RegisterMonitor", with: "org.bluez.Error.AlreadyExists")
        fixture.discovers()
        #expect(fixture.drainEvents() == ["0 heard", "0 is deaf", "0 listens"])
        fixture.host.advance(by: .seconds(60))
        #expect(fixture.events.isEmpty)
        #expect(scanner.adapters.map(\.reports) == [1])
    }

    @Test func `A value of another type than bluetoothd's is passed over`() throws {
        let scanner = try listening()
        fixture.adds(device: device)
        _ = fixture.drainEvents()
        fixture.changed(device, "org.bluez.Device1") { properties in
            properties.property("RSSI", "s") { $0.string("loud") }
            properties.property("ManufacturerData", "b") { $0.boolean(true) }
            properties.property("Address", "n") { $0.int16(1) }
        }
        fixture.changes(0, "Address", true)
        fixture.bus.signal("/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded") { $0.boolean(true) }
        fixture.bus.signal("/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved") { $0.uint16(3) }
        #expect(fixture.events.isEmpty)
        #expect(scanner.adapters.map(\.isListening) == [true])
    }

    @Test func `A call that our monitor object does not have is answered with an error`() throws {
        let scanner = try listening()
        let before = fixture.bus.sent.count
        fixture.bus.callsMonitor("Anything")
        #expect(fixture.bus.sent.count == before + 1)
        #expect(fixture.bus.sent.last?.isError == true)
        #expect(scanner.adapters.count == 1)
    }

    @Test func `Stopping ends a discovery and reports that no receiver listens`() throws {
        let scanner = fixture.makeScanner()
        try scanner.start()
        fixture.shows(adapters: [0], offersMonitor: false)
        fixture.discovers()
        _ = fixture.drainEvents()
        let bus = fixture.bus
        scanner.stop()
        #expect(bus.sent.map(\.member) == ["StopDiscovery"])
        #expect(!bus.isOpen)
        #expect(fixture.drainEvents() == ["0 is deaf"])
        fixture.host.advance(by: .seconds(60))
        #expect(fixture.connections == 1)
    }
}
