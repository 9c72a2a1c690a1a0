import Base
import Configuration
import Health
import JSON
import OwnTracks
import PageServer
import Rooms
import SiteCore
import SiteProtocol

/// The state of a rooms service at one moment. The page, `/status.json` and `/metrics` are made from it, so that they
/// cannot disagree.
struct SiteSnapshot {
    /// The service that answers.
    struct ServiceState {
        var site: String
        var instance: String
        /// `Site.shownRole`
        var role: String
        /// Why the service is not active although its role would be, with advice; nil: nothing prevents it.
        var refusal: (text: String, remedy: String)?
        /// The other service that is presumably active.
        var other: String?
        var version: String
        var startedAt: MonotonicInstant
        /// Messages of the broker that were dropped: the mailbox was full, they came too fast, or they were too large.
        var dropped: UInt64 = 0
        /// Messages that could not be decrypted, or were plain although the site has a key.
        var refused: UInt64 = 0
        /// Gateways whose messages cannot be decrypted, sorted.
        var unreadable: [String] = []
        /// A newer version that apt knows of on this machine; nil: none is known.
        var newerVersion: String?
        /// nil if the page has not requested beacons recently.
        var nearby: Nearby?
        var process: ProcessState?
    }

    /// Beacons that gateways hear and that are not tags, for the page.
    struct Nearby {
        struct Beacon {
            var heard: NearbyBeacons.Listed
            /// The room of the gateway that hears it best.
            var room: String?
            /// The name of the tag with this beacon; nil if there is none.
            var tag: String?
        }

        /// Time for which gateways still report.
        var left: Duration
        var beacons: [Beacon]
    }

    struct ShownTag {
        var id: String
        /// The published state of the tag.
        var published: PublishedTag
        /// `UUID:major:minor`, `UUID:major` or `UUID`.
        var beacon: String
        /// Whether the configuration file defines the tag, so that it cannot be changed elsewhere.
        var isConfigured: Bool
        var belief: [(room: RoomName, probability: Float)]
        var training: TagExplanation.Training?
        /// The last five minutes, as `BeliefHistory.series` returns them.
        var series: [String: String]
        /// Whether no gateway that listens now has heard the tag: it may have gone since.
        var isStale = false
    }

    struct ShownRoom {
        var report: RoomReport
        /// Number of tags in the room.
        var count: Int
        /// Names of the first `namedTags` of them.
        var tags: [String]
        /// The floor of the room; nil if it is unknown.
        var floor: Int?
        /// Whether the room has gateways, and none of them listens.
        var isStale = false
    }

    struct ShownGateway {
        var report: GatewayReport
        /// nil if the gateway has no card, like an ESPresense node.
        var card: GatewayCard?
        var trouble: GatewayHealth.Trouble?
        /// The room that it named before, if a person must say why.
        var formerRoom: RoomName?
        /// Whether its version differs from that of most gateways.
        var isOfOtherVersion = false
    }

    /// Largest number of listed tags; `tagCount` is the number of all tags.
    static let listedTags = 250
    /// Largest numbers of listed rooms and gateways; `roomCount` and `gatewayCount` are the numbers of all. There are as many rooms as
    /// tags, so that the room of each listed tag is listed.
    static let listedRooms = listedTags
    static let listedGateways = 250
    /// Largest number of tags named in a room.
    static let namedTags = 50

    let now: MonotonicInstant
    let wallClock: WallClock
    var service: ServiceState
    var broker: BrokerState
    var queue = QueueState()
    var refusals = RefusalRecord()
    /// Why the page is not served although it is wanted; nil: nothing is in its way.
    var pageFinding: Finding?
    /// Why the state cannot be written; nil if it can.
    var storeProblem: String?
    var tags: [ShownTag] = []
    var tagCounts = SiteTagCounts()
    var rooms: [ShownRoom] = []
    var gateways: [ShownGateway] = []
    var services: [String: ServiceCard] = [:]
    /// The gateway that the configuration file of this machine describes, and where its page is; nil: it has none.
    var neighbour: (name: String, page: ListenAddress)?
    /// What a person must decide about the site's list of tags, with advice; nil: nothing.
    var question: (text: String, remedy: String)?
    /// What a person must say of gateways that name another room than before.
    var roomQuestions: [RoomQuestion] = []
    /// What is wrong with what is said of floors, with advice.
    var floorProblems: [(text: String, remedy: String)] = []
    /// nil if no gateway is asked for a beacon of its own.
    var survey: SiteSurveyState?
    /// What is wrong with nodes beside the decisions that are published as nodes, with advice; nil: nothing.
    var rivals: (text: String, remedy: String)?
    /// nil before the site is read.
    var counters: Counters?

    struct Counters {
        var engine: RoomEngine.Counters
        var site: Site.Counters
        /// Readings of ESPresense nodes under ids of which it is not known which beacon they are, and the first of these ids.
        var unknownIDs: (count: UInt64, names: [String]) = (0, [])
        /// Messages that could not be read.
        var malformed = MalformedMessages()
        /// Messages that could not be decrypted, or were plain although the site has a key.
        var sealed: UInt64 = 0
        var commands = CommandCounts()
    }

    init(
        now: MonotonicInstant, wallClock: WallClock, service: ServiceState, broker: BrokerState
    ) {
        (self.now, self.wallClock, self.service, self.broker) = (now, wallClock, service, broker)
    }
}

// MARK: - What needs attention

extension SiteSnapshot {
    /// Whether what is known of gateways and tags is of the present: messages of gateways arrive, and the gateways get the list of
    /// tags. Otherwise their silence says nothing.
    var isCurrent: Bool { broker.phase == .connected && service.refusal == nil }

    /// The worst findings come first.
    var findings: [Finding] {
        var findings: [Finding] = []
        if broker.phase != .connected || !broker.reason.isEmpty {
            let reason = broker.reason.isEmpty ? "is not connected" : broker.reason
            findings.append(.init(.error, "broker", "\(broker.name): \(reason)", remedy: broker.remedy))
        }
        if let refusal = service.refusal {
            findings.append(.init(.error, "service", refusal.text, remedy: refusal.remedy))
        }
        findings += refusals.findings(besides: "main", at: now)
        if let storeProblem {
            findings.append(
                .init(.error, "storage", "the state cannot be written: \(storeProblem)", remedy: "look at the disk"))
        }
        if let question {
            findings.append(.init(.error, "tags", question.text, remedy: question.remedy))
        } else if tagCounts.all == 0 {
            findings.append(
                .init(
                    .warning, "tags", "there is no tag yet",
                    remedy: "add one below; 'ibeacon-gateway scan' shows beacons"
                ))
        }
        if isCurrent { findings += gatewayFindings + [unheardFinding].compactMap(\.self) }
        findings += [pageFinding, tagCounts.batteryFinding(named: Self.mostNamed)].compactMap(\.self)
        if let newer = service.newerVersion { findings.append(Finding(newer: newer, than: service.version)) }
        return findings
    }

    /// Uptime from which a tag that was never heard is worth a look.
    static let longSilence: Duration = .seconds(3600)
    /// Largest number of names in a finding. A person goes to one tag after the other.
    private static let mostNamed = 3

    /// Soon after a start, and while no gateway listens, silence says nothing.
    private var unheardFinding: Finding? {
        guard service.startedAt.duration(to: now) >= Self.longSilence, gateways.contains(where: \.report.isListening)
        else { return nil }
        return Finding(unheard: tagCounts.unheard, named: Self.mostNamed)
    }

    /// What is said of gateways, which has no meaning while nothing of them can arrive.
    private var gatewayFindings: [Finding] {
        var findings: [Finding] = []
        if gateways.isEmpty {
            findings.append(
                .init(
                    .warning, "gateways", "no gateway has announced itself",
                    remedy: "give each gateway this broker; 'ibeacon-gateway doctor' on a gateway says what is missing")
            )
        }
        findings += roomQuestions.map { .init(.warning, "rooms", $0.text, remedy: $0.remedy) }
        findings += floorProblems.map { .init(.warning, "floors", $0.text, remedy: $0.remedy) }
        findings += survey?.findings(wallClock, at: now) ?? []
        if let rivals { findings.append(.init(.error, "espresense", rivals.text, remedy: rivals.remedy)) }
        findings += Dictionary(grouping: gateways.filter { $0.trouble?.isToldTogether == true }, by: \.trouble).sorted {
            ($0.key?.rawValue ?? "") < ($1.key?.rawValue ?? "")
        }.compactMap { trouble, concerned in trouble.map { finding($0, names(concerned)) } }
        // Known gateways are in the findings above.
        let known = Set(gateways.map(\.report.name))
        let strangers = service.unreadable.filter { !known.contains($0) }
        if !strangers.isEmpty { findings.append(finding(.wrongKey, GatewayAdvice.list(strangers))) }
        let others = gateways.filter(\.isOfOtherVersion)
        if !others.isEmpty {
            findings.append(
                .init(
                    .warning, "versions", "another version than most gateways have: \(names(others))",
                    remedy: "install the same version on all"))
        }
        return findings
    }

    private func finding(_ trouble: GatewayHealth.Trouble, _ names: String) -> Finding {
        let advice = GatewayAdvice(trouble, of: names, site: service.site)
        return .init(.warning, "gateways", advice.text, remedy: advice.remedy)
    }

    /// The names of the gateways; of many, the first few.
    private func names(_ gateways: [ShownGateway]) -> String { GatewayAdvice.list(gateways.map(\.report.name)) }
}

// MARK: - As JSON

extension SiteSnapshot {
    /// The content of `/status.json` and of the live events. Tags, rooms, gateways and services are listed under their
    /// ids, with the members of their retained messages and more.
    var json: JSONValue {
        [
            "site": .string(service.site), "instance": .string(service.instance),
            "role": .string(service.role), "current": .bool(isCurrent),
            "activeService": .optional(service.other.map { .shown($0) }),
            "version": .string(service.version),
            "time": wallClock.isKnown ? .integer(wallClock.epochSeconds(at: now)) : .null,
            "localTime": .optional(wallClock.localTime(at: now).map { .string("\($0)") }),
            "uptime": .integer(Int64(service.startedAt.duration(to: now).inSeconds)),
            "broker": broker.json(at: now),
            "refusals": refusals.json(at: now),
            "queue": [
                "pending": .integer(Int64(queue.pending)), "dropped": .count(queue.dropped), "sent": .count(queue.sent),
            ],
            "store": ["ok": .bool(storeProblem == nil), "problem": .optional(storeProblem.map { .shown($0) })],
            "tags": object(tags.map { ($0.id, $0.json(at: now, isCurrent: isCurrent)) }),
            "tagCount": .integer(Int64(tagCounts.all)), "homeCount": .integer(Int64(tagCounts.home)),
            "adopt": .bool(question != nil),
            "gatewayPage": .optional(gatewayPage), "roomQuestions": roomQuestionsJSON,
            "rooms": object(shownRooms.map { ($0.report.name.id, $0.json(isCurrent: isCurrent)) }),
            "roomCount": .integer(Int64(rooms.count)), "survey": .optional(survey?.json(wallClock, at: now)),
            "gateways": object(shownGateways.map { ($0.report.name, $0.json(at: now, isCurrent: isCurrent)) }),
            "gatewayCount": .integer(Int64(gateways.count)),
            "listening": .integer(isCurrent ? Int64(gateways.count { $0.report.isListening }) : 0),
            "services": object(
                services.map { ($0.key, ["active": .bool($0.value.isActive), "version": .shown($0.value.version)]) }),
            "counters": .optional(counters.map { .object($0.commands.json) }),
            "unknownIds": .array((counters?.unknownIDs.names ?? []).map { .shown($0) }),
            "malformed": .array((counters?.malformed.topics ?? []).map { $0.json(at: now) }),
            "nearby": .optional(service.nearby.map { $0.json(at: now) }),
            "findings": .array(findings.map(\.json)),
        ]
    }

    /// The page of the gateway of this machine, while it sends readings.
    private var gatewayPage: JSONValue? {
        guard let neighbour, gateways.contains(where: { $0.report.name == neighbour.name && $0.report.isListening })
        else { return nil }
        return [
            "name": .shown(neighbour.name), "host": .string(neighbour.page.host),
            "port": .integer(Int64(neighbour.page.port)),
        ]
    }

    private var roomQuestionsJSON: JSONValue {
        .array(
            roomQuestions.prefix(Self.listedRooms).map { question in
                [
                    "from": .string(question.from.id), "fromName": .shown(question.from.name),
                    "to": .string(question.to.id), "toName": .shown(question.to.name),
                    "gateways": .array(question.gateways.prefix(20).map { .shown($0) }),
                    "text": .shown(question.text), "cure": .shown(question.remedy),
                ]
            })
    }

    /// Of very many rooms, those of the listed tags, then others with tags, then others.
    private var shownRooms: [ShownRoom] {
        guard rooms.count > Self.listedRooms else { return rooms }
        let ofTags = Set(tags.compactMap(\.published.room?.id))
        let ranked = rooms.map { room in
            (rank: ofTags.contains(room.report.name.id) ? 0 : room.count > 0 ? 1 : 2, room: room)
        }
        return ranked.sorted {
            ($0.rank, $0.room.report.name.id) < ($1.rank, $1.room.report.name.id)
        }.prefix(Self.listedRooms).map(\.room)
    }

    /// Of very many gateways, first those with a problem.
    private var shownGateways: [ShownGateway] {
        guard gateways.count > Self.listedGateways else { return gateways }
        let ranked = gateways.map { (rank: $0.trouble != nil || $0.isOfOtherVersion ? 0 : 1, gateway: $0) }
        return ranked.sorted {
            ($0.rank, $0.gateway.report.name) < ($1.rank, $1.gateway.report.name)
        }.prefix(Self.listedGateways).map(\.gateway)
    }

    private func object(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(Dictionary(members) { first, _ in first })
    }
}

extension SiteSnapshot.Nearby {
    fileprivate func json(at now: MonotonicInstant) -> JSONValue {
        [
            "left": .integer(Int64(left.inSeconds.rounded(.up))),
            "beacons": .array(
                beacons.map { beacon in
                    let heard = beacon.heard
                    return [
                        "id": .string("\(heard.beacon)"), "gateway": .shown(heard.gateway),
                        "room": .optional(beacon.room.map { .shown($0) }),
                        "dBm": .optional(heard.level.map { .integer(Int64($0.rounded())) }),
                        "ago": .ago(heard.last, at: now), "since": .ago(heard.first, at: now),
                        "tag": .optional(beacon.tag.map { .shown($0) }),
                        "region": .optional(heard.region.map { .shown($0) }),
                    ]
                }),
        ]
    }
}

extension SiteSnapshot.ShownTag {
    func json(at now: MonotonicInstant, isCurrent: Bool) -> JSONValue {
        var members = published.json.object ?? [:]
        members["name"] = .shown(members["name"]?.string ?? id)
        members["lastRoomName"] = members["lastRoomName"]?.string.map { .shown($0) }
        members["beacon"] = .string(beacon)
        members["configured"] = .bool(isConfigured)
        members["belief"] = .object(
            Dictionary(belief.map { ($0.room.id, .hundredths(Double($0.probability))) }) { first, _ in first })
        // The present confidence, not the confidence at the decision.
        if let room = members["room"]?.string, !belief.isEmpty {
            members["confidence"] = .hundredths(Double(belief.first { $0.room.id == room }?.probability ?? 0))
        }
        // How sure it was says nothing about the present.
        let isOld = isStale || (!isCurrent && published.isHome)
        if isOld { members["confidence"] = .null }
        members["stale"] = .bool(isOld)
        members["series"] = .object(series.mapValues { .string($0) })
        members["training"] = .optional(training.map { $0.json(at: now) })
        return .object(members)
    }
}

extension MalformedMessages.Topic {
    fileprivate func json(at now: MonotonicInstant) -> JSONValue {
        [
            "topic": .shown(name), "reason": .shown(reason), "count": .count(count), "ago": .ago(last, at: now),
        ]
    }
}

extension TagExplanation.Training {
    fileprivate func json(at now: MonotonicInstant) -> JSONValue {
        let whole = began.duration(to: until).inSeconds
        return [
            "room": .string(room.id), "roomName": .shown(room.name), "seconds": .tenths(whole),
            "left": .tenths(isOver ? 0 : max(0, now.duration(to: until).inSeconds)),
            "learned": .tenths(Double(learned)), "over": .bool(isOver),
        ]
    }
}

extension SiteSnapshot.ShownRoom {
    fileprivate func json(isCurrent: Bool) -> JSONValue {
        var members: [String: JSONValue] = [
            "stale": .bool(isStale || !isCurrent),
            "name": .shown(report.name.name), "count": .integer(Int64(count)),
            "tags": .array(tags.map { .shown($0) }),
            "gateways": .array(report.gateways.prefix(20).map { .shown($0) }),
            "trainedSeconds": .tenths(Double(report.labelledSeconds)), "ownSeconds": .tenths(Double(report.ownSeconds)),
        ]
        members["floor"] = floor.map { .integer(Int64($0)) }
        return .object(members)
    }
}

extension SiteSnapshot.ShownGateway {
    fileprivate func json(at now: MonotonicInstant, isCurrent: Bool) -> JSONValue {
        [
            "stale": .bool(!isCurrent), "room": .optional(report.room.map { .shown($0.name) }),
            "health": [
                "listening": .bool(report.isListening && isCurrent),
                "problem": .optional(isCurrent ? trouble.map { .string($0.rawValue) } : nil),
            ],
            "formerRoom": .optional(formerRoom.map { .shown($0.name) }),
            "heardAgo": .ago(report.lastMessage, at: now),
            "version": .optional(card.map { .shown($0.version ?? "") }),
            "scanner": .optional(card.map { .shown($0.scanner ?? "") }),
            "otherVersion": .bool(isOfOtherVersion),
        ]
    }
}

// MARK: - For Prometheus

extension SiteSnapshot {
    /// Metrics for Prometheus. Tags are counted, not listed, because a site can have ten thousand.
    func metrics(_ clients: ClientCounters) -> String {
        var writer = MetricsWriter()
        writer.family(
            "ibeacon_rooms_info", .gauge, "Always 1; the site and the version are in the labels.",
            [([("site", service.site), ("instance", service.instance), ("version", service.version)], 1)])
        writer.single(
            "ibeacon_rooms_active", .gauge, "1 if this service is the one that decides.",
            service.role == "active" ? 1 : 0)
        writer.single(
            "ibeacon_rooms_waits_for_adoption", .gauge,
            "1 while this service does not know the site's list of tags, and decides nothing.", question == nil ? 0 : 1)
        writer.single(
            "ibeacon_rooms_uptime_seconds", .gauge, "Time since the service started.",
            service.startedAt.duration(to: now).inSeconds)
        writer.single(
            "ibeacon_rooms_broker_connected", .gauge, "1 while the broker is connected.",
            broker.phase == .connected ? 1 : 0)
        writer.family(
            "ibeacon_rooms_tags", .gauge, "Tags, by whether they are at home.",
            [
                ([("state", "home")], Double(tagCounts.home)),
                ([("state", "away")], Double(tagCounts.all - tagCounts.home)),
            ])
        writer.single(
            "ibeacon_rooms_low_batteries", .gauge, "Tags whose battery is low.", Double(tagCounts.lowBatteries.count))
        // The id keeps the labels distinct if names are equal.
        writer.family(
            "ibeacon_rooms_room_tags", .gauge, "Tags in a room.",
            rooms.map { ([("id", $0.report.name.id), ("room", $0.report.name.name)], Double($0.count)) })
        writer.family(
            "ibeacon_rooms_room_trained_seconds", .gauge, "Seconds that are remembered of the training of a room.",
            rooms.map {
                ([("id", $0.report.name.id), ("room", $0.report.name.name)], Double($0.report.labelledSeconds))
            })
        writer.family(
            "ibeacon_rooms_gateway_listening", .gauge, "1 while a gateway listens and sends what it hears.",
            gateways.map { ([("gateway", $0.report.name)], $0.report.isListening && isCurrent ? 1 : 0) })
        survey?.write(to: &writer)
        if let counters { write(counters, to: &writer) }
        writeMessages(&writer)
        if let process = service.process {
            writer.process(
                process, startedAt: wallClock.isKnown ? wallClock.epochSeconds(at: service.startedAt) : nil)
        }
        writer.clients(clients, of: "ibeacon_rooms")
        return writer.text
    }

    private func write(_ counters: Counters, to writer: inout MetricsWriter) {
        let engine = counters.engine
        writer.single(
            "ibeacon_rooms_gateway_messages_total", .counter, "Messages of gateways.", Double(engine.messages))
        writer.single(
            "ibeacon_rooms_readings_total", .counter, "Readings in these messages.", Double(engine.readings))
        writer.family(
            "ibeacon_rooms_messages_refused_total", .counter, "Messages that were refused, by reason.",
            [
                ([("reason", "late")], Double(engine.late)), ([("reason", "repeated")], Double(engine.repeated)),
                ([("reason", "retained")], Double(counters.site.retained)),
                ([("reason", "malformed")], Double(counters.malformed.count)),
                ([("reason", "sealed")], Double(counters.sealed)),
                ([("reason", "unknown id")], Double(counters.unknownIDs.count)),
                ([("reason", "no room")], Double(engine.refused)),
                ([("reason", "flood")], Double(service.dropped)),
            ])
        writer.commands(counters.commands, of: "ibeacon_rooms")
        writer.single(
            "ibeacon_rooms_decisions_total", .counter, "Decisions about tags.", Double(engine.decisions))
    }

    private func writeMessages(_ writer: inout MetricsWriter) {
        writer.family(
            "ibeacon_rooms_refusals_total", .counter,
            "What the broker refused, by connection and kind.", refusals.labelledTotals)
        writer.single(
            "ibeacon_rooms_queue_messages", .gauge, "Messages that wait for the broker.", Double(queue.pending))
        writer.single(
            "ibeacon_rooms_queue_dropped_messages_total", .counter, "Messages dropped because the queue was full.",
            Double(queue.dropped))
        writer.single(
            "ibeacon_rooms_messages_sent_total", .counter, "Messages that the broker acknowledged.",
            Double(queue.sent))
        writer.single(
            "ibeacon_rooms_store_ok", .gauge, "1 while the database can be written.", storeProblem == nil ? 1 : 0)
        writer.family(
            "ibeacon_rooms_findings", .gauge, "Findings that need attention, by level.",
            Finding.Level.allCases.map { level in
                ([("level", level.rawValue)], Double(findings.count { $0.level == level }))
            })
    }
}
