import Base
import CDBus
import Glibc
import HostSupport
import System
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
            let connection = try BusConnection(
                to: service, host: loop, address: "unix:path=\(directory.file("bus"))")
            connection.open()
            #expect(loop.run(atMost: .patience) { connection.uniqueName != nil })
            return (connection, try #require(connection.uniqueName))
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

/// A bus that accepts, and then does nothing.
@Suite(.serialized) struct SilentBusTests {
    private let directory: TemporaryDirectory
    private let loop = PollLoop()

    init() throws { directory = try TemporaryDirectory() }

    private var address: String { "unix:path=\(directory.file("bus"))" }

    /// More than any of these steps takes on a slow machine, an emulated one too. What waits for such a bus waits for 25 s (the answer to a
    /// call, D-Bus's own default), or forever (a write, a connection).
    private static let noWait = Duration.seconds(10)

    @Test func `Connecting, calling and writing do not wait for it, and after a while it is said`() throws {
        let listener = try LocalSocket(directory.file("bus")).listen()
        defer { close(listener) }
        let begin = loop.now
        let connection = try BusConnection(to: "org.bluez", host: loop, address: address)
        var isClosed = false
        connection.onClosed = { isClosed = true }
        connection.open()
        // Together more than the socket takes, and more than may wait for the bus.
        let text = String(repeating: "x", count: 10_000)
        for _ in 0..<120 {
            let call = BusMessage.call("org.bluez", "/", "org.bluez.Adapter1", "Say")
            call?.append { $0.string(text) }
            connection.call(call) { _ in }
        }
        #expect(begin.duration(to: loop.now) < Self.noWait)
        let accepted = accept(listener, nil, nil)
        defer { close(accepted) }
        #expect(loop.run(atMost: .patience) { isClosed })
        #expect(connection.problem.description.contains("does not answer"))
        connection.close()
    }

    @Test func `A bus that accepts nobody is said at once, and connecting does not wait`() throws {
        let listener = try LocalSocket(directory.file("bus")).listen()
        defer { close(listener) }
        var filling: [CInt] = []
        defer { for descriptor in filling { close(descriptor) } }
        while true {
            let descriptor = LocalSocket.make(isBlocking: false)
            filling.append(descriptor)
            guard LocalSocket(directory.file("bus")).connect(descriptor) == 0 else { break }
        }
        let begin = loop.now
        let error = #expect(throws: BusError.self) {
            try BusConnection(to: "org.bluez", host: loop, address: address)
        }
        #expect(error?.description.contains("accepts no connection") == true)
        #expect(begin.duration(to: loop.now) < Self.noWait)
    }

    @Test func `Where there is no bus, that is said at once`() {
        let error = #expect(throws: BusError.self) {
            try BusConnection(to: "org.bluez", host: loop, address: address)
        }
        #expect(error?.description.contains("install and start dbus") == true)
    }

    @Test func `A bus that stops reading does not stop the program, and is left`() throws {
        let listener = try LocalSocket(directory.file("bus")).listen()
        defer { close(listener) }
        let connection = try BusConnection(to: "org.bluez", host: loop, address: address)
        var isClosed = false
        connection.onClosed = { isClosed = true }
        let opened = loop.now
        connection.open()
        // The first connection only asks whether anybody listens.
        var connections: [CInt] = []
        defer { for connection in connections { close(connection) } }
        #expect(
            loop.run(atMost: .patience) {
                let accepted = accept(listener, nil, nil)
                if accepted >= 0 { connections.append(accepted) }
                return connections.count == 2
            })
        let accepted = try #require(connections.last)
        // The words of a bus that authenticates (D-Bus Specification, "Authentication Protocol"), and nothing more.
        var received: [UInt8] = []
        func says(_ words: String, after question: String) {
            #expect(
                loop.run(atMost: .patience) {
                    var buffer = [UInt8](repeating: 0, count: 4096)
                    let count = recv(accepted, &buffer, buffer.count, CInt(MSG_DONTWAIT))
                    if count > 0 { received += buffer[..<count] }
                    return String(decoding: received, as: UTF8.self).contains(question)
                })
            received = []
            _ = send(accepted, words, words.utf8.count, CInt(MSG_NOSIGNAL))
        }
        says("OK 0123456789abcdef0123456789abcdef\r\n", after: "AUTH EXTERNAL")
        says("AGREE_UNIX_FD\r\n", after: "NEGOTIATE_UNIX_FD")
        let text = String(repeating: "x", count: 100_000)
        var longest = Duration.zero
        for _ in 0..<20 where !isClosed {
            let call = BusMessage.call("org.bluez", "/", "org.bluez.Adapter1", "Say")
            call?.append { $0.string(text) }
            let begin = loop.now
            connection.call(call) { _ in }
            longest = max(longest, begin.duration(to: loop.now))
            loop.run(atMost: .milliseconds(20)) { isClosed }
        }
        #expect(longest < Self.noWait)
        #expect(loop.run(atMost: .patience) { isClosed })
        // After 10 s the answer to Hello is missing, which has the same words.
        #expect(opened.duration(to: loop.now) < .seconds(10), "it is left for what waits, not for the missing answer")
        #expect(connection.problem.description.contains("does not answer"))
    }
}
