import Glibc
import TestSupport

/// A service, a broker with which something is wrong for a while, and a consumer that is always well.
final class BrokenBroker {
    enum Fault: String, CaseIterable {
        case killedAndForgetful
        case restarted
        case standsStill
        case unreachableAtStart
        case nameNotResolved
        case loginWithdrawn
        case certificateExpired
        case authorityUnknown
        case silent
        case losesPackets
        case cutAgainAndAgain
    }

    let fault: Fault
    let gateway: GatewayProcess
    let consumer: TransitionLog
    private let broker: MosquittoBroker
    private let proxy: FaultyProxy
    private let certificates: Certificates?
    private let httpPort: UInt16

    /// The beacon comes for half a second every four seconds, six times.
    private static let visits = 6
    static let transitions = [[String]](repeating: ["enter", "leave"], count: visits).flatMap(\.self)

    init(_ fault: Fault) throws {
        self.fault = fault
        let directory = try TemporaryDirectory()
        // The consumer's, whatever the other has.
        let port = try LoopbackPort.free()
        let isTLS = fault == .certificateExpired || fault == .authorityUnknown
        certificates = isTLS ? try Certificates() : nil
        try run("mosquitto_passwd", ["-b", "-c", directory.file("passwords"), "jane", "right"])
        try run("mosquitto_passwd", ["-b", directory.file("passwords"), "consumer", "right"])
        var settings = Self.settings(directory)
        if let certificates {
            let issuer = fault == .authorityUnknown ? try Certificates() : certificates
            others = issuer
            settings += Self.tls(try issuer.issue("bad", days: fault == .certificateExpired ? -1 : 2))
        }
        self.settings = settings
        consumerPort = port
        broker = try MosquittoBroker(settings + ["listener \(port) 127.0.0.1"], in: directory)
        consumer = try TransitionLog(broker, port: port, options: ["-u", "consumer", "-P", "right"])
        proxy = try FaultyProxy(to: broker.port)
        httpPort = try LoopbackPort.free()
        let proxyPort = proxy.port
        gateway = try GatewayProcess("", port: proxyPort)
        try configure(host: fault == .nameNotResolved ? "no-such-broker.invalid" : "127.0.0.1")
        var air = BeaconScript()
        for visit in 0..<Self.visits { air.advertise(7, from: Double(visit) * 4, to: Double(visit) * 4 + 0.5) }
        try air.write(to: gateway.directory.file("air.btsnoop"))
        if fault == .unreachableAtStart { broker.stop() }
    }

    private let settings: [String]
    private let consumerPort: UInt16
    /// Held, for their files go with them.
    private var others: Certificates?

    private static func settings(_ directory: TemporaryDirectory) -> [String] {
        ["allow_anonymous false", "password_file \(directory.file("passwords"))"]
    }

    private static func tls(_ pair: Certificates.Pair) -> [String] {
        ["certfile \(pair.certificate)", "keyfile \(pair.key)"]
    }

    private func configure(host: String) throws {
        let tls = certificates.map { ", tls: true, caFile: \"\($0.authority)\"" } ?? ""
        try gateway.configure(
            """
            password: "right", waypoints: [\(BeaconScript.waypoint("Ada", minor: 7))], leaveAfter: 1,
            scanner: {capture: "air.btsnoop"}\(tls)
            """, port: proxy.port, host: host, http: "{listen: \"127.0.0.1:\(httpPort)\"}")
    }

    /// What the status must say while the fault lasts; nil where nothing can be known yet.
    var complaint: String? {
        switch fault {
        case .killedAndForgetful, .restarted, .unreachableAtStart: "broker"
        case .standsStill, .losesPackets: nil
        case .nameNotResolved: "cannot be resolved"
        case .loginWithdrawn: "not authorised"
        case .certificateExpired: "expired"
        case .authorityUnknown: "certificate"
        case .silent: nil
        case .cutAgainAndAgain: nil
        }
    }

    var status: String { (try? gateway.ask("status")) ?? "" }

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
        case .losesPackets: proxy.behave(.loses(every: 5))
        case .cutAgainAndAgain: proxy.cut()
        case .unreachableAtStart, .nameNotResolved, .certificateExpired, .authorityUnknown: break
        }
    }

    /// While it lasts, once a second.
    func tick() { if fault == .cutAgainAndAgain { proxy.cut() } }

    func cure() throws {
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
        case .cutAgainAndAgain: break
        }
    }

    func end() -> Int32 {
        let code = gateway.stop()
        proxy.close()
        broker.stop()
        return code
    }
}
