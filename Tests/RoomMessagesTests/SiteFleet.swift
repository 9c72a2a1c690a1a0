import Base
import Beacon
import JSON
import OwnTracks
import Regions
import Rooms
import SiteCore
import SiteProtocol

/// Services of one site at one broker, in virtual time. A service that ends leaves what it stored.
struct SiteFleet {
    private static let addresses = SiteAddresses(site: "home", user: nil)
    static let listTopic = RoomTopic.tags(site: "home").text

    private(set) var services: [String: Site] = [:]
    private(set) var retained: [String: [UInt8]] = [:]
    /// The lists that were published, with the service.
    private(set) var lists: [(by: String, list: TagList)] = []
    /// The transitions that were published, as `SERVICE EVENT ROOM`, and when the tag first entered each room.
    private(set) var transitions: [(text: String, created: Int64)] = []
    /// Lines of the log.
    private(set) var log: [String] = []
    private(set) var now = MonotonicInstant.zero.advanced(by: .seconds(1000))
    private(set) var stored: [String: StoredSite] = [:]
    /// The settings of each service.
    private var configurations: [String: SiteSettings] = [:]
    private let hasKey: Bool
    /// What the broker has not delivered yet, in its order.
    private var queue: [(name: String, topic: String, payload: [UInt8], isRetained: Bool)] = []
    private var isDelivering = false

    /// The services whose configuration turns the survey on.
    private let surveyors: Set<String>
    /// What the services found, as in the log.
    private(set) var findings: [String] = []
    private let mostTags: Int

    init(hasKey: Bool = false, surveyors: Set<String> = [], mostTags: Int = RoomEngine.mostTags) {
        (self.hasKey, self.surveyors, self.mostTags) = (hasKey, surveyors, mostTags)
    }

    /// - Parameters:
    ///   - stored: What the service has in its store; nil: what it left.
    ///   - configured: Tags of its configuration file, as `NAME:MINOR`.
    ///   - edits: Changes by the command line while it did not run.
    mutating func start(
        _ name: String, stored new: StoredSite? = nil, configured: [String] = [], edits: [RegionChange] = []
    ) {
        stored[name] = new ?? stored[name] ?? StoredSite()
        stored[name]?.isEdited = !edits.isEmpty
        var settings = SiteSettings()
        (settings.site, settings.instance, settings.areCardsSealed) = ("home", name, hasKey)
        settings.tags = configured.map(Self.change)
        settings.surveysGateways = surveyors.contains(name)
        settings.bounds.tags = mostTags
        services[name] = Site(settings)
        configurations[name] = settings
        handle(.start(stored[name] ?? StoredSite()), name)
        handle(.edits(edits.enumerated().map { SiteEdit(id: Int64($0.offset + 1), .tags($0.element)) }), name)
        // What the broker retains comes before all that is published from now on.
        for (topic, payload) in retained.sorted(by: { $0.key < $1.key }) { queue.append((name, topic, payload, true)) }
        isDelivering = true
        handle(.brokerConnected, name)
        isDelivering = false
        deliver()
    }

    /// The configuration file has other tags, and the service reads it again.
    mutating func reload(_ name: String, configured: [String]) {
        guard var settings = configurations[name] else { return }
        settings.tags = configured.map(Self.change)
        configurations[name] = settings
        handle(.settings(settings), name)
    }

    /// The service ends without a word, as by SIGKILL.
    mutating func kill(_ name: String) { services[name] = nil }

    /// The service is about to end, as after SIGTERM.
    mutating func stop(_ name: String) { handle(.stopping, name) }

    /// The service leaves the broker, as after SIGTERM.
    mutating func leave(_ name: String) {
        handle(.leavesBroker, name)
        kill(name)
    }

    mutating func loseState(of name: String) { stored[name] = nil }

    mutating func edit(_ name: String, _ changes: RegionChange...) {
        handle(.edits(changes.enumerated().map { SiteEdit(id: Int64($0.offset + 1), .tags($0.element)) }), name)
    }

    mutating func request(_ name: String, _ request: SiteRequest) -> String? {
        if let refusal = services[name]?.refusal(of: request) { return refusal }
        handle(.request(request), name)
        return nil
    }

    /// Any client publishes a retained message.
    mutating func publish(_ topic: String, _ payload: [UInt8]) {
        retained[topic] = payload.isEmpty ? nil : payload
        for name in services.keys.sorted() { queue.append((name, topic, payload, false)) }
        deliver()
    }

    /// Gateways say in which rooms they stand.
    mutating func stand(_ gateways: [(name: String, room: String)]) {
        for (name, room) in gateways {
            publish(RoomTopic.card(site: "home", gateway: name).text, Array(#"{"v":1,"room":"\#(room)"}"#.utf8))
        }
    }

    /// For so many seconds the gateway with the level -50 hears the tag better than the others.
    mutating func hear(_ minor: Int, best gateway: String, of gateways: [String], seconds: Int) {
        for _ in 0..<seconds {
            run(1)
            let second = now.nanoseconds / 1_000_000_000
            for name in gateways {
                let level = name == gateway ? -50 : -80
                let payload =
                    #"{"v":1,"boot":"b","seq":\#(second),"at":\#(second * 1000),"listening":1000,"reports":4,"beacons":[{"id":"\#(Self.uuid):1:\#(minor)","n":3,"rssi":\#(level),"max":\#(level),"power":-59,"age":12}]}"#
                publish(RoomTopic.heard(site: "home", gateway: name).text, Array(payload.utf8))
            }
        }
    }

    /// A command arrives that the broker retains.
    mutating func receiveRetained(command text: String, _ name: String) {
        receive(command: text, name, isRetained: true)
    }

    mutating func receive(command text: String, _ name: String, isRetained: Bool = false) {
        let command = ReceivedCommand(
            tracker: 0,
            command: Result { () throws(CommandError) in try Command(parsing: Array(text.utf8), base: .auto) },
            isRetained: isRetained, wasEncrypted: true, digest: CommandDigest(of: text.utf8))
        handle(.command(command), name)
    }

    /// A list arrives that cannot be decrypted.
    mutating func publishSealedList(to name: String) {
        handle(.sealed(.tags(site: "home"), reason: "it is encrypted", isRetained: true), name)
    }

    mutating func run(_ seconds: Int) {
        let end = now.advanced(by: .seconds(seconds))
        while let due = services.values.compactMap({ $0.nextDeadline }).min(), due <= end {
            now = max(now, due)
            for name in services.keys.sorted() where services[name]?.nextDeadline.map({ $0 <= now }) == true {
                handle(.tick, name)
            }
        }
        now = end
    }

    // MARK: What came of it

    func role(_ name: String) -> ActiveService.Role? { services[name]?.role }

    /// The names of a service's tags, sorted.
    func tags(_ name: String) -> [String] { (services[name]?.tags ?? []).map(\.name).sorted() }

    /// The minors of the list that the broker retains.
    var listed: [Int] {
        ((try? FeedDecoder.tags(retained[Self.listTopic] ?? []))?.beacons ?? []).map { Int($0.minor) }.sorted()
    }

    func card(_ name: String) -> ServiceCard? {
        retained[RoomTopic.service(site: "home", instance: name).text].flatMap { ServiceCard($0) }
    }

    // MARK: The wiring

    private mutating func deliver() {
        guard !isDelivering else { return }
        isDelivering = true
        while !queue.isEmpty {
            let next = queue.removeFirst()
            guard let topic = RoomTopic(next.topic), let message = try? SiteMessage(topic, next.payload) else {
                continue
            }
            handle(.message(message, isRetained: next.isRetained), next.name)
        }
        isDelivering = false
    }

    private mutating func handle(_ input: Site.Input, _ name: String) {
        _ = services[name]?.handle(
            .wallClock(WallClock(epochOffset: 1_700_000_000_000_000_000, isKnown: true)), at: now)
        for effect in services[name]?.handle(input, at: now) ?? [] {
            switch effect {
            // An outbox is delivered while its service is active.
            case .publish(let report): if role(name) == .active { send(report, by: name) }
            case .send(let report): send(report, by: name)
            case .regions(let regions): stored[name]?.regions = regions
            case .store(.listVersion(let version)): stored[name]?.listVersion = version
            case .store(.configured(let rids)): stored[name]?.configured = rids
            case .store(.tag(let id, let state)): stored[name]?.states[id] = state
            case .store(.created(let created)): stored[name]?.created = created
            case .store(.appliedCommands(let commands)): stored[name]?.appliedCommands = commands
            case .store(.surveyMinors(let minors)): stored[name]?.surveyMinors = minors
            case .store(.surveyLevels(let levels)): stored[name]?.surveyLevels = levels
            case .found(let finding): findings.append(finding.text)
            case .log(_, let text, _): log.append(text)
            default: break
            }
        }
    }

    private mutating func send(_ report: SitePublication, by name: String) {
        if case .tags(let list) = report { lists.append((name, list)) }
        if case .transition(_, let transition) = report {
            let json = transition.payload
            transitions.append(
                (
                    "\(name) \(json["event"]?.string ?? "") \(json["desc"]?.string ?? "")",
                    json["wtst"]?.asInteger ?? 0
                ))
        }
        let message = report.message(to: Self.addresses)
        guard message.isRetained else { return }
        publish(message.topic, message.payload)
    }

    static let uuid = "11112222-3333-4444-5555-666677778888"

    static func beacon(_ minor: Int) -> BeaconID? { BeaconID("\(uuid):1:\(minor)") }

    /// A tag as `NAME:MINOR`.
    static func change(_ text: String) -> RegionChange {
        let parts = text.split(separator: ":")
        let description = try? RegionDescription(parsing: "\(parts[0]):\(uuid):1:\(parts[1])")
        return .set(
            Region(
                rid: String(parts[0]).lowercased(),
                description: description ?? RegionDescription(name: "none", pattern: nil), timestamp: 1_600_000_000),
            isRIDDerived: false)
    }

    /// The store of a service of an earlier version, which stored no version.
    static func stored(_ tags: String...) -> StoredSite {
        var site = StoredSite()
        _ = site.regions.apply(tags.map(change))
        return site
    }
}
