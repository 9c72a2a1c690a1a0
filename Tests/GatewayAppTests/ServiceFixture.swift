import Base
import Beacon
import Gateway
import JSON
import Messaging
import OwnTracks
import Runtime
import ServiceSupport
import Shell
import TestSupport
import Testing

@testable import GatewayApp

/// The whole service in virtual time: the real core and the real store, doubles for the radio, the brokers and the page.
final class ServiceFixture: ServiceRig {
    static let uuid = "CA271EAE-5FA8-4E80-8F08-2A302A95A959"

    let host = ServiceHostDouble()
    let radio = RadioDouble()
    let store: SteppedStore
    let broker = BrokerDouble()
    let availability = BrokerDouble()
    let status = StatusDouble()
    let phoneKeys = PhoneKeyDouble()
    let service: Service
    var app: App<Gateway> { service.app }
    private let directory: TemporaryDirectory

    /// - Parameters:
    ///   - members: Members of the configuration file, JSON5 without the outer braces.
    ///   - directory: Where the configuration file and the state are.
    ///   - vfs: SQLite's name of a file layer.
    ///   - settles: false: the state is not read yet.
    ///   - isClockKnown: false: the machine was started anew, and its clock shows 1970.
    ///   - device: The gateway's device.
    ///   - hardware: What tells the machine from others.
    ///   - log: What the service logs to.
    ///   - proxies: The machine of Bluetooth proxies; nil: there is none.
    init(
        _ members: String = "", in directory: TemporaryDirectory, vfs: String? = nil, settles: Bool = true,
        isClockKnown: Bool = true, device: String = "hall", hardware: String? = "hardware-1",
        log: Log = Log(threshold: .error), proxies: ProxySurroundings? = nil
    ) throws {
        self.directory = directory
        if !isClockKnown { (host.bootID, host.wallClock) = ("boot-2", WallClock(epochOffset: 0, isKnown: false)) }
        host.hardware = hardware
        store = SteppedStore(host: host, vfs: vfs)
        let path = try Self.write(members, device, in: directory)
        service = Service(
            settings: try Settings(readingFrom: path, stateDirectory: directory.path),
            links: ServiceLinks(
                radio: radio, store: store, broker: broker, availability: availability, status: status,
                phoneKeys: phoneKeys, proxies: proxies),
            host: host, log: log)
        try service.start()
        if settles { settle() }
    }

    /// Writes the configuration file: one tracker, one region, a leave after a minute.
    @discardableResult
    private static func write(_ members: String, _ device: String = "hall", in directory: TemporaryDirectory) throws
        -> String
    {
        try directory.write(
            """
            {_type: "configuration", username: "jane", deviceId: "\(device)", leaveAfter: 60, \(members)
             waypoints: [{_type: "waypoint", rid: "keys", desc: "Keys:\(uuid):1:7", tst: 1600000000}]}
            """, to: "config.json")
    }

    /// Changes the configuration file and has the service read it again, as SIGHUP does.
    func reload(_ members: String, device: String = "hall") throws {
        try Self.write(members, device, in: directory)
        service.app.reload()
        settle()
    }

    /// The service ends and starts again, with the same state and this configuration.
    func restarted(
        _ members: String = "", device: String = "hall", hardware: String? = "hardware-1"
    ) throws -> ServiceFixture {
        service.app.stop()
        return try ServiceFixture(members, in: directory, device: device, hardware: hardware)
    }

    func handleOwnEvents() -> Bool {
        guard availability.hasEvents else { return false }
        service.side.handleEvents()
        return true
    }

    func recordUnrest() { Issue.record("the service does not come to rest") }

    /// A receiver listens and hears the keys' beacon ten times in ten seconds.
    func bringKeys() throws {
        listen()
        let beacon = BeaconID(uuid: try #require(BeaconUUID(Self.uuid)), major: 1, minor: 7)
        for _ in 1...10 {
            radio.output?.heard(
                Sighting(
                    beacon: beacon, measuredPower: MeasuredPower(dBm: -59), rssi: RSSI(reported: -60),
                    receiver: Receiver(index: 0)), at: host.now)
            wait(.seconds(1))
        }
    }

    func listen() {
        radio.output?.listening(true, of: Receiver(index: 0), duty: nil, at: host.now, because: "the test says so")
        settle()
    }

    /// `enter Keys` for each transition that reached the broker.
    var transitions: [String] {
        broker.messages.compactMap { message in
            guard message.topic.hasSuffix("/event"), let json = try? JSONValue(parsing: message.payload) else {
                return nil
            }
            return "\(json["event"]?.string ?? "?") \(json["desc"]?.string ?? "?")"
        }
    }

    /// The last payload of each topic that was published on the connection of the availability.
    var retained: [String: [UInt8]] {
        Dictionary(availability.messages.map { ($0.topic, $0.payload) }) { _, last in last }
    }

    /// A command makes a second region, `bag`.
    ///
    /// - Parameter device: The tracker's.
    func commandBag(of device: String = "hall") {
        command(
            to: device,
            #"""
            {"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":[
            {"_type":"waypoint","rid":"bag","tst":1,"desc":"Bag:\#(Self.uuid):1:8"}]}}
            """#)
    }

    /// A command arrives on the tracker's `/cmd`.
    ///
    /// - Parameter isSealed: It was encrypted with the key of the tracker.
    func command(to device: String = "hall", _ json: String, isSealed: Bool = false) {
        let command = Result { () throws(CommandError) in try Command(parsing: Array(json.utf8)) }
        let commands = ReceivedCommands(
            topic: "owntracks/jane/\(device)/cmd", retained: false, wasEncrypted: isSealed, commands: [command],
            digest: CommandDigest(of: json.utf8))
        broker.send(.decoded(DecodedMessage(commands, byteCount: json.utf8.count)))
        settle()
    }
}
