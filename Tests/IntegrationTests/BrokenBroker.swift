import Glibc
import JSON
import OwnTracks
import TestSupport

/// A service, a broker with which something is wrong for a while, and a consumer that is always well.
final class BrokenBroker {
    enum Fault: String, CaseIterable {
        /// To hold the others against.
        case none
        case killedAndForgetful
        case restarted
        case standsStill
        case unreachableAtStart
        case nameNotResolved
        case loginWithdrawn
        case certificateExpired
        case authorityUnknown
        case silent
        /// Every 50th.
        case losesPackets
        case cutAgainAndAgain

        /// Whether no broker is there. In all other cases a faulty one is there.
        var isAbsence: Bool { self == .restarted || self == .unreachableAtStart }

        /// Whether the fault exists before the service starts.
        var isFromTheStart: Bool {
            [.unreachableAtStart, .nameNotResolved, .certificateExpired, .authorityUnknown].contains(self)
        }
    }

    let fault: Fault
    let gateway: GatewayProcess
    let consumer: TransitionLog
    private let broker: MosquittoBroker
    private let proxy: FaultyProxy
    private let certificates: Certificates?
    private let httpPort: UInt16

    /// The beacons come for half a second every four seconds, six times.
    private static let visits = 6
    /// The last visit has been told by then, if nothing is in the way: it begins after 20 s and lasts half a second,
    /// and `leaveAfter` is one second.
    static let end: Duration = .seconds(22)
    private let people: Int
    /// What a consumer must have heard in the end, by name, if the service was never kept waiting.
    var expected: [String: [String]] {
        let transitions = [[String]](repeating: ["enter", "leave"], count: Self.visits).flatMap(\.self)
        return Dictionary(uniqueKeysWithValues: (0..<people).map { ("Ada\($0)", transitions) })
    }

    /// Whether the consumer has heard all that happened, in order. On a machine that keeps the service waiting, visits may
    /// have become one; then all is what its history has when the last is over.
    var isTold: Bool {
        consumer.read()
        if consumer.events == expected { return true }
        guard gateway.hadToWait, gateway.log.contains("the recording has ended"), let history = try? gateway.history()
        else { return false }
        return history.keys == expected.keys && history.values.allSatisfy { $0.last == "leave" }
            && consumer.events == history
    }

    init(_ fault: Fault) throws {
        self.fault = fault
        // Enough of them that several packets are lost.
        people = fault == .losesPackets || fault == .none ? 6 : 1
        let directory = try TemporaryDirectory()
        // The consumer's, whatever the other has.
        consumerPort = try LoopbackPort.free()
        let isTLS = fault == .certificateExpired || fault == .authorityUnknown
        certificates = isTLS ? try Certificates() : nil
        try run("mosquitto_passwd", ["-b", "-c", directory.file("passwords"), "jane", "right"])
        try run("mosquitto_passwd", ["-b", directory.file("passwords"), "consumer", "right"])
        var settings = Self.settings(directory)
        if let certificates {
            let issuer = fault == .authorityUnknown ? try Certificates() : certificates
            others = issuer
            settings += Self.tls(try issuer.issue("bad", expired: fault == .certificateExpired))
        }
        self.settings = settings
        broker = try MosquittoBroker(settings + ["listener \(consumerPort) 127.0.0.1"], in: directory)
        consumer = try TransitionLog(broker, port: consumerPort, options: ["-u", "consumer", "-P", "right"])
        proxy = try FaultyProxy(to: broker.port)
        httpPort = try LoopbackPort.free()
        // A proxy would still accept connections where the broker does not.
        port = fault.isAbsence ? broker.port : proxy.port
        gateway = try GatewayProcess("", port: port)
        try configure(host: fault == .nameNotResolved ? "no-such-broker.invalid" : "127.0.0.1")
        var air = BeaconScript()
        for visit in 0..<Self.visits {
            for person in 0..<people {
                air.advertise(minor(person), from: Double(visit) * 4, to: Double(visit) * 4 + 0.5)
            }
        }
        try air.write(to: gateway.directory.file("air.btsnoop"))
        if fault == .unreachableAtStart { broker.stop() }
    }

    private let settings: [String]
    private let consumerPort: UInt16
    /// Where the service seeks the broker.
    private let port: UInt16
    /// Held, for their files go with them.
    private var others: Certificates?

    private static func settings(_ directory: TemporaryDirectory) -> [String] {
        ["allow_anonymous false", "password_file \(directory.file("passwords"))"]
    }

    private static func tls(_ pair: Certificates.Pair) -> [String] {
        ["certfile \(pair.certificate)", "keyfile \(pair.key)"]
    }

    private func configure(host: String) throws {
        let waypoints = (0..<people).map { BeaconScript.waypoint("Ada\($0)", minor: minor($0)) }
        let tls = certificates.map { ", tls: true, caFile: \"\($0.authority)\"" } ?? ""
        try gateway.configure(
            """
            password: "right", waypoints: [\(waypoints.joined(separator: ","))], leaveAfter: 1,
            lat: 48.2, lon: 16.4, scanner: {capture: "air.btsnoop"}\(tls)
            """, port: port, host: host, http: "{listen: \"127.0.0.1:\(httpPort)\"}")
    }

    private func minor(_ person: Int) -> UInt16 { UInt16(7 + person) }

    /// What the status must say while the fault lasts, and of its remedy.
    var complaint: (text: String, remedy: String) {
        switch fault {
        case .none: ("is connected", "")
        case .killedAndForgetful: ("the connection was closed", "the broker's own log")
        case .restarted, .unreachableAtStart: ("cannot be reached: Connection refused", "systemctl status mosquitto")
        case .standsStill, .losesPackets: ("has not acknowledged a message for", "look at its machine")
        case .nameNotResolved: ("cannot be resolved", "getent hosts no-such-broker.invalid")
        case .loginWithdrawn: ("not authorised", "check \"username\" and the password")
        case .certificateExpired: ("certificate has expired", "renew the broker's certificate")
        case .authorityUnknown: ("certificate", "as \"caFile\"")
        case .silent: ("does not answer as a broker", "the broker's own log")
        case .cutAgainAndAgain: ("is unstable", "the same client id")
        }
    }

    struct Status {
        var text = ""
        var remedy = ""
        /// When the service will try again, if it waits.
        var nextTry: ContinuousClock.Instant?
    }

    /// What the service says of the broker.
    func status() throws -> Status {
        let json = try JSONValue(parsing: Array(try gateway.ask("--json", "status").utf8))
        let finding = json["findings"]?.array?.first { $0["subject"] == "broker" }
        let wait = json["brokers"]?.array?.first?["retryIn"]?.asNumber
        return Status(
            text: finding?["text"]?.string ?? "", remedy: finding?["cure"]?.string ?? "",
            nextTry: wait.map { .now + .seconds($0) })
    }

    /// Packets that the proxy has lost.
    var lostCount: Int { proxy.lostCount }

    /// The fault begins. Those that are there from the start have begun.
    func breakIt() throws {
        switch fault {
        case .killedAndForgetful:
            broker.stop(abruptly: true)
            proxy.behave(.hangsUp)
            try run("rm", ["-f", broker.directory.file("mosquitto.db")])
        case .restarted: broker.stop()
        case .standsStill: broker.freeze()
        case .loginWithdrawn:
            try run("mosquitto_passwd", ["-b", broker.directory.file("passwords"), "jane", "other"])
            broker.reload()
            proxy.cut()
        case .silent:
            proxy.behave(.isSilent)
            proxy.cut()
        case .losesPackets: proxy.behave(.loses(every: 50))
        case .cutAgainAndAgain: proxy.cut()
        case .none, .unreachableAtStart, .nameNotResolved, .certificateExpired, .authorityUnknown: break
        }
    }

    /// While it lasts, once a second.
    func tick() { if fault == .cutAgainAndAgain { proxy.cut() } }

    func remedy() throws {
        switch fault {
        case .killedAndForgetful:
            let before = consumer.subscriptions
            try broker.restart()
            // It is the consumer's luck, not ours, who is there first; here it is the consumer.
            _ = eventually { consumer.subscriptions > before }
            proxy.behave(.passes)
        case .restarted, .unreachableAtStart: try broker.restart()
        case .standsStill: broker.thaw()
        case .nameNotResolved:
            try configure(host: "127.0.0.1")
            gateway.process?.send(SIGHUP)
        case .loginWithdrawn:
            try run("mosquitto_passwd", ["-b", broker.directory.file("passwords"), "jane", "right"])
            broker.reload()
        case .certificateExpired, .authorityUnknown:
            guard let certificates else { return }
            let settings = settings.filter { !$0.contains("file ") || $0.contains("password") }
            try broker.restart(
                settings + Self.tls(try certificates.issue("good")) + ["listener \(consumerPort) 127.0.0.1"])
        case .silent:
            proxy.behave(.passes)
            proxy.cut()
        case .losesPackets: proxy.behave(.passes)
        case .none, .cutAgainAndAgain: break
        }
    }

    func end() -> Int32 {
        let code = gateway.stop()
        proxy.close()
        broker.stop()
        return code
    }
}
