import Base
import TestSupport
import Testing

@testable import Messaging

@Suite struct BrokerTLSTests {
    private func settings(
        for broker: MosquittoBroker, host: String = "127.0.0.1", authority: String?, client: Certificates.Pair? = nil
    ) -> BrokerSettings {
        var settings = BrokerSettings(hosts: [host], port: broker.port, clientID: "gateway")
        settings.tls = .init(
            caFile: authority, clientCertificateFile: client?.certificate, clientKeyFile: client?.key)
        return settings
    }

    /// The first failure of an attempt with these settings.
    private func failure(_ settings: BrokerSettings) throws -> BrokerFailure {
        let owner = try BrokerClient(settings)
        try owner.connection.start()
        #expect(eventually { !owner.failures.isEmpty })
        #expect(!owner.events.contains { $0.isConnected })
        return try #require(owner.failures.first)
    }

    @Test(arguments: ["localhost", "127.0.0.1"])
    func `A broker with a certificate of our authority is trusted, and messages pass`(host: String) throws {
        let certificates = try Certificates()
        let broker = try MosquittoBroker(MosquittoBroker.tls(certificates.issue("broker")))
        defer { broker.stop() }
        let owner = try BrokerClient(settings(for: broker, host: host, authority: certificates.authority))
        owner.connection.subscribe(to: ["loop"])
        try owner.connection.start()
        #expect(eventually { broker.log.contains("Sending SUBACK to gateway") })
        // More than a TLS record, so that some of it waits inside OpenSSL where poll does not see it.
        let payload = [UInt8](repeating: 7, count: 100_000)
        owner.publish(1, to: "loop", payload)
        #expect(eventually { owner.messages.map(\.payload) == [payload] })
        #expect(eventually { owner.acknowledged == [1] })
        #expect(owner.connection.stop(within: .patience))
    }

    @Test func `A certificate of an unknown authority is named as the cause`() throws {
        let certificates = try Certificates()
        let broker = try MosquittoBroker(MosquittoBroker.tls(certificates.issue("broker")))
        defer { broker.stop() }
        let others = try Certificates()
        let failure = try failure(settings(for: broker, authority: others.authority))
        #expect(failure.description.contains("certificate"), "\(failure)")
        #expect(failure.isTLS, "\(failure)")
    }

    @Test func `The system's authorities do not know that of the test`() throws {
        let certificates = try Certificates()
        let broker = try MosquittoBroker(MosquittoBroker.tls(certificates.issue("broker")))
        defer { broker.stop() }
        let failure = try failure(settings(for: broker, authority: nil))
        #expect(failure.description.contains("issuer certificate"), "\(failure) \(broker.log)")
    }

    @Test func `A certificate for another host is named as the cause`() throws {
        let certificates = try Certificates()
        let pair = try certificates.issue("broker", names: "DNS:elsewhere.example")
        let broker = try MosquittoBroker(MosquittoBroker.tls(pair))
        defer { broker.stop() }
        let failure = try failure(settings(for: broker, authority: certificates.authority))
        #expect(failure == .tls("the broker's certificate is not for this host name"))
    }

    @Test func `An expired certificate is named as the cause, and its renewal is the cure`() throws {
        let certificates = try Certificates()
        let broker = try MosquittoBroker(MosquittoBroker.tls(certificates.issue("old", expired: true)))
        defer { broker.stop() }
        let owner = try BrokerClient(settings(for: broker, authority: certificates.authority))
        owner.publish(1)
        try owner.connection.start()
        #expect(eventually { !owner.failures.isEmpty })
        #expect(owner.failures.first == .tls("the broker's certificate: certificate has expired"))
        try broker.restart(MosquittoBroker.tls(certificates.issue("new")))
        #expect(owner.connects())
        #expect(owner.sees { $0 == .acknowledged(MessageToken(rawValue: 1)) })
    }

    @Test func `A client certificate opens a broker that asks for one`() throws {
        let certificates = try Certificates()
        let broker = try MosquittoBroker(
            MosquittoBroker.tls(certificates.issue("broker"), clientsSignedBy: certificates.authority))
        defer { broker.stop() }
        let client = try certificates.issue("gateway")
        let owner = try BrokerClient(settings(for: broker, authority: certificates.authority, client: client))
        try owner.connection.start()
        #expect(owner.connects())
    }

    @Test func `A missing client certificate is a failure that names TLS`() throws {
        let certificates = try Certificates()
        let broker = try MosquittoBroker(
            MosquittoBroker.tls(certificates.issue("broker"), clientsSignedBy: certificates.authority))
        defer { broker.stop() }
        let failure = try failure(settings(for: broker, authority: certificates.authority))
        #expect(failure.isTLS, "\(failure)")
    }

    @Test func `A key that needs a password fails at once instead of asking the terminal`() throws {
        let certificates = try Certificates()
        let broker = try MosquittoBroker(MosquittoBroker.tls(certificates.issue("broker")))
        defer { broker.stop() }
        let client = try certificates.encrypted(certificates.issue("gateway"))
        let failure = try failure(settings(for: broker, authority: certificates.authority, client: client))
        #expect(failure.isTLS, "\(failure)")
    }

    @Test func `A certificate file that cannot be read is named, and read once it is there`() throws {
        let certificates = try Certificates()
        let broker = try MosquittoBroker(MosquittoBroker.tls(certificates.issue("broker")))
        defer { broker.stop() }
        let directory = try TemporaryDirectory()
        let owner = try BrokerClient(settings(for: broker, authority: directory.file("missing.pem")))
        try owner.connection.start()
        #expect(eventually { !owner.failures.isEmpty })
        #expect(
            owner.failures.first == .settings("cannot read \(directory.file("missing.pem")): No such file or directory")
        )
        try run("cp", [certificates.authority, directory.file("missing.pem")])
        #expect(owner.connects())
    }

    @Test func `With the system's authorities the gateway connects again after the broker was away`() throws {
        let certificates = try Certificates()
        let broker = try MosquittoBroker(MosquittoBroker.tls(certificates.issue("broker")))
        defer { broker.stop() }
        let gateway = try GatewayProcess("tls: true, \(GatewayFixture.quiet)", port: broker.port)
        try gateway.start(environment: ["SSL_CERT_FILE=\(certificates.authority)"])
        #expect(gateway.says("connected to 127.0.0.1"), "\(gateway.log)")
        try broker.restart()
        #expect(
            eventually { broker.log.split(separator: "\n").count { $0.contains(" as janehall (") } == 2 },
            "\(gateway.log)")
        #expect(gateway.stop() == 0)
    }

    /// libmosquitto 2.0.11 refuses a second connection of a handle that has only `MOSQ_OPT_TLS_USE_OS_CERTS`.
    @Test func `One handle checks a second certificate by the system's authorities as it did the first`() throws {
        let certificates = try Certificates()
        let broker = try MosquittoBroker(MosquittoBroker.tls(certificates.issue("broker")))
        defer { broker.stop() }
        var client = try Client(settings: settings(for: broker, authority: nil))
        for attempt in 1...2 {
            var failure: BrokerFailure?
            do throws(BrokerFailure) { try client.connect(to: "127.0.0.1") } catch { failure = error }
            _ = eventually {
                do throws(BrokerFailure) {
                    if failure == nil { try client.flush() }
                    if failure == nil { _ = try client.receive() }
                } catch {
                    failure = error
                }
                return failure != nil
            }
            #expect(failure?.isTLS == true, "attempt \(attempt): \(String(describing: failure))")
        }
    }

    @Test func `What replaces the file of authorities counts from the next connection on`() throws {
        let (old, new) = (try Certificates(), try Certificates())
        let broker = try MosquittoBroker(MosquittoBroker.tls(old.issue("broker")))
        defer { broker.stop() }
        let directory = try TemporaryDirectory()
        let file = directory.file("authority.pem")
        try run("cp", [old.authority, file])
        let owner = try BrokerClient(settings(for: broker, authority: file))
        owner.publish(1)
        try owner.connection.start()
        #expect(eventually { owner.acknowledged == [1] }, "\(owner.failures)")
        try run("cp", [new.authority, file])
        try broker.restart()
        #expect(eventually { owner.failures.contains(where: \.isTLS) }, "\(owner.failures)")
        owner.publish(2)
        try broker.restart(MosquittoBroker.tls(new.issue("renewed")))
        #expect(eventually { owner.acknowledged == [1, 2] }, "\(owner.failures)")
    }

    @Test(arguments: [QoS.atLeastOnce, .exactlyOnce])
    func `With TLS nothing is lost or overtakes when connections are cut, and the session stays`(qos: QoS) throws {
        let certificates = try Certificates()
        let broker = try MosquittoBroker(MosquittoBroker.tls(certificates.issue("broker")))
        defer { broker.stop() }
        let proxy = try FaultyProxy(to: broker.port)
        var settings = self.settings(for: broker, authority: certificates.authority)
        (settings.port, settings.protocolLevel, settings.firstRetryDelay) = (proxy.port, .v5, .milliseconds(50))
        let owner = try BrokerClient(settings)
        owner.connection.subscribe(to: ["count"])
        try owner.connection.start()
        #expect(eventually { broker.log.contains("Sending SUBACK to gateway") })
        let numbers = (1...200).map(Int64.init)
        for number in numbers {
            #expect(owner.publish(number, to: "count", qos: qos))
            if number.isMultiple(of: 40) {
                #expect(eventually { owner.acknowledged.count > number - 40 }, "\(owner.failures)")
                proxy.cut()
            }
        }
        #expect(eventually { owner.acknowledged == numbers }, "\(owner.acknowledged) \(owner.failures)")
        let last = Array("200".utf8)
        #expect(eventually { owner.messages.contains { $0.payload == last } })
        // What was not acknowledged when the connection was cut comes again.
        var heard: [String] = []
        for message in owner.messages.map({ String(decoding: $0.payload, as: UTF8.self) })
        where !heard.contains(message) { heard.append(message) }
        #expect(heard == numbers.map(String.init))
        #expect(owner.events.contains(.connected(sessionPresent: true)))
    }

    @Test func `A plain broker is no TLS broker`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let others = try Certificates()
        let failure = try failure(settings(for: broker, authority: others.authority))
        #expect(failure.isTLS || failure == .closed(code: nil), "\(failure)")
    }

    @Test func `A TLS broker is no plain broker`() throws {
        let certificates = try Certificates()
        let broker = try MosquittoBroker(MosquittoBroker.tls(certificates.issue("broker")))
        defer { broker.stop() }
        let failure = try failure(BrokerSettings(for: broker))
        #expect(failure == .closed(code: nil) || failure == .protocolViolation, "\(failure)")
    }
}

extension BrokerFailure {
    fileprivate var isTLS: Bool {
        if case .tls = self { true } else { false }
    }
}
