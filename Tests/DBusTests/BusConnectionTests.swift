import CDBus
import HostSupport
import TestSupport
import Testing

@testable import DBus

/// A connection to a bus of the test, on which everybody may send everything, and other programs there.
@Suite struct BusConnectionTests {
    /// A bus, and a program that connects to it.
    private final class Bus {
        private static let interface = "org.freedesktop.DBus"

        let loop = PollLoop()
        private let directory: TemporaryDirectory
        private let daemon: ChildProcess

        init() throws {
            directory = try TemporaryDirectory()
            let settings = try directory.write(
                """
                <busconfig>
                  <type>system</type>
                  <listen>unix:path=\(directory.file("bus"))</listen>
                  <auth>EXTERNAL</auth>
                  <policy context="default">
                    <allow user="*"/><allow own="*"/>
                    <allow send_destination="*" send_requested_reply="false"/>
                    <allow receive_sender="*" receive_requested_reply="false"/>
                  </policy>
                </busconfig>
                """, to: "settings")
            daemon = try ChildProcess(
                "dbus-daemon", ["--nofork", "--nopidfile", "--print-address", "--config-file", settings],
                output: directory.file("said"))
            // The bus says its address when it can be connected to.
            guard eventually({ text.contains("unix:") || !daemon.isRunning }), daemon.isRunning else {
                throw SupportError("dbus-daemon does not run: \(text)")
            }
        }

        private var text: String { String(decoding: (try? directory.read("said")) ?? [], as: UTF8.self) }

        /// A connection for a service, and the connection's unique name.
        func connect(to service: String = interface) throws -> (connection: BusConnection, name: String) {
            let address = "unix:path=\(directory.file("bus"))"
            var name = ""
            let connection = try BusConnection(to: service, host: loop) { error in
                let connection = dbus_connection_open_private(address, &error)
                guard let connection, dbus_bus_register(connection, &error) != 0 else { return nil }
                name = dbus_bus_get_unique_name(connection).map { String(cString: $0) } ?? ""
                return connection
            }
            return (connection, name)
        }

        /// Asks the bus, and waits for the answer: what the program has sent before has then reached its receivers.
        func ask(_ program: BusConnection, _ member: String, _ body: (inout BusWriter) -> Void = { _ in }) {
            let call = BusMessage.call(Self.interface, "/org/freedesktop/DBus", Self.interface, member)
            call?.append(body)
            var isAnswered = false
            program.call(call) { _ in isAnswered = true }
            #expect(loop.run(atMost: .patience) { isAnswered })
        }

        /// Takes the name of a service, also from its owner.
        func own(_ name: String, _ program: BusConnection) {
            ask(program, "RequestName") { arguments in
                arguments.string(name)
                // DBUS_NAME_FLAG_ALLOW_REPLACEMENT and DBUS_NAME_FLAG_REPLACE_EXISTING.
                arguments.uint32(3)
            }
        }
    }

    private static let properties = "org.freedesktop.DBus.Properties"

    /// A signal for one program, which needs no match rule.
    private func signal(
        to receiver: String, _ member: String = "PropertiesChanged", _ interface: String = properties,
        replySerial: UInt32 = 0, _ body: (inout BusWriter) -> Void = { _ in }
    ) throws -> BusMessage {
        let message = BusMessage(owning: try #require(dbus_message_new_signal("/org/bluez/hci0", interface, member)))
        dbus_message_set_destination(message.pointer, receiver)
        if replySerial > 0 { dbus_message_set_reply_serial(message.pointer, replySerial) }
        message.append(body)
        return message
    }

    @Test func `Signals and calls of other programs are dropped, and none is taken for an answer`() throws {
        let bus = try Bus()
        let (service, serviceName) = try bus.connect()
        service.open()
        bus.own("org.bluez", service)
        let (gateway, name) = try bus.connect(to: "org.bluez")
        var taken: [BusMessage] = []
        gateway.onMessage = { taken.append($0) }
        gateway.open()
        var answers = 0
        gateway.call(BusMessage.call("org.bluez", "/", "org.example", "Unanswered")) { _ in answers += 1 }

        let (stranger, strangerName) = try bus.connect()
        stranger.open()
        stranger.send(try signal(to: name))
        stranger.send(BusMessage.call(name, "/", "org.bluez.Agent1", "RequestConfirmation"))
        for serial: UInt32 in 1...30 { stranger.send(try signal(to: name, replySerial: serial)) }
        let change = try signal(to: name, "NameOwnerChanged", "org.freedesktop.DBus") { arguments in
            for text in ["org.bluez", serviceName, strangerName] { arguments.string(text) }
        }
        stranger.send(change)
        stranger.send(try signal(to: name))
        bus.ask(stranger, "GetId")

        service.send(try signal(to: name))
        service.send(BusMessage.call(name, "/", "org.bluez.Agent1", "RequestConfirmation"))
        #expect(bus.loop.run(atMost: .patience) { taken.count { $0.sender == serviceName } == 2 })
        #expect(taken.map(\.sender) == [serviceName, serviceName])
        #expect(answers == 0)
        gateway.close()
    }

    @Test func `Who takes over the name of the service is heard from then on, and the former owner no more`() throws {
        let bus = try Bus()
        let (gateway, name) = try bus.connect(to: "org.bluez")
        var taken: [BusMessage] = []
        gateway.onMessage = { taken.append($0) }
        gateway.open()
        let (first, firstName) = try bus.connect()
        let (second, secondName) = try bus.connect()
        for program in [first, second] { program.open() }
        // Nobody has the name.
        first.send(try signal(to: name))
        bus.own("org.bluez", first)
        first.send(try signal(to: name))
        bus.ask(first, "GetId")
        bus.own("org.bluez", second)
        first.send(try signal(to: name))
        bus.ask(first, "GetId")
        second.send(try signal(to: name))
        #expect(bus.loop.run(atMost: .patience) { taken.last?.sender == secondName })
        let daemon = "org.freedesktop.DBus"
        #expect(taken.map(\.sender) == [daemon, firstName, daemon, secondName])
        #expect(
            taken.map(\.member) == ["NameOwnerChanged", "PropertiesChanged", "NameOwnerChanged", "PropertiesChanged"])
        gateway.close()
    }
}
