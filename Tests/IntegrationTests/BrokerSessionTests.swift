import Base
import Configuration
import Glibc
import TestSupport
import Testing

@testable import Messaging

/// What a broker may ask of a session, and names with several addresses.
@Suite struct BrokerSessionTests {
    @Test(arguments: [1, 3])
    func `With MQTT 5, no more messages are under way than the broker wants, and all arrive in order`(
        most: Int
    ) throws {
        // mosquitto tells it to clients of MQTT 5 as their receive maximum.
        let broker = try MosquittoBroker(["allow_anonymous true", "max_inflight_messages \(most)"])
        defer { broker.stop() }
        let witness = try Subscriber(to: broker, topic: "count")
        var settings = BrokerSettings(for: broker)
        settings.protocolLevel = .v5
        let owner = try BrokerClient(settings)
        try owner.connection.start()
        #expect(owner.connects())
        let numbers = (1...200).map(Int64.init)
        for number in numbers { #expect(owner.publish(number, to: "count")) }
        #expect(eventually { owner.acknowledged == numbers }, "\(owner.failures)")
        #expect(eventually { witness.lines.map(\.text) == numbers.map(String.init) })
        #expect(owner.failures.isEmpty)
    }

    @Test func `With MQTT 5, a session outlives the connection, with what came meanwhile and what was not told`() throws
    {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let proxy = try FaultyProxy(to: broker.port)
        var settings = BrokerSettings(hosts: ["127.0.0.1"], port: proxy.port, clientID: "gateway")
        settings.protocolLevel = .v5
        settings.firstRetryDelay = .milliseconds(50)
        let owner = try BrokerClient(settings)
        owner.connection.subscribe(to: ["cmd"])
        try owner.connection.start()
        #expect(eventually { broker.log.contains("Sending SUBACK to gateway") })
        for round in 1...5 {
            proxy.cut()
            try run(
                "mosquitto_pub", ["-h", "127.0.0.1", "-p", "\(broker.port)", "-q", "1", "-t", "cmd", "-m", "\(round)"])
            #expect(eventually { owner.messages.last?.payload == Array("\(round)".utf8) }, "round \(round)")
        }
        // What we had not acknowledged when the connection was cut comes again: that is what QoS 1 is.
        let heard = owner.messages.map { String(decoding: $0.payload, as: UTF8.self) }
        let changes = heard.enumerated().filter { $0.offset == 0 || heard[$0.offset - 1] != $0.element }.map(\.element)
        #expect(changes == ["1", "2", "3", "4", "5"], "\(heard)")
        #expect(owner.events.contains(.connected(sessionPresent: true)))
    }

    /// Root needs no name space of users for a view of the file system of its own, and has none to be had where its root was changed.
    private static let unshare = geteuid() == 0 ? "-m" : "-rm"

    /// A name space of mounts is not to be had, for example, in a chroot whose root is no mount point.
    private static var hasOwnMounts: Bool { (try? run("unshare", [unshare, "true"])) != nil }

    @Test(
        .enabled(
            if: hasOwnMounts,
            "'unshare -m' does not work here: the root of this system is no mount point, or it is forbidden"))
    func `A name whose first address is of IPv6 reaches a broker that listens on IPv4 alone`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let gateway = try GatewayProcess("host: \"localhost\", \(GatewayFixture.quiet)", port: broker.port)
        let hosts = try gateway.directory.write("::1 localhost\n127.0.0.1 localhost\n", to: "hosts")
        // A view of the file system of its own, in which the hosts file is another.
        let script = "mount --bind '\(hosts)' /etc/hosts && getent ahosts localhost | head -1 && exec \"$0\" \"$@\""
        let process = try ChildProcess(
            "unshare",
            [Self.unshare, "sh", "-c", script, try GatewayProcess.program] + gateway.arguments
                + ["run"],
            output: gateway.directory.file("log"))
        #expect(gateway.says("connected to localhost"), "\(gateway.log)")
        #expect(gateway.log.hasPrefix("::1"))
        process.send(15)
        #expect(process.wait() == 0)
    }
}
