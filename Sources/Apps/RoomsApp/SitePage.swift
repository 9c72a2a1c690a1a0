import Base
import Beacon
import Health
import JSON
import PageServer
import Regions
import Rooms
import SiteCore
import SiteProtocol

/// The page of a rooms service: tags in their rooms, gateways, training.
final class SitePage: PageSource {
    private unowned let owner: any SitePageOwner
    private var history = BeliefHistory()
    /// The latest comparison of a room with the others. A comparison takes up to a tenth of a second on a large site,
    /// and any client that can open the page can request one.
    private var comparison: (room: String, at: MonotonicInstant, outcome: RoomConfusion?)?
    /// Shortest time between two comparisons.
    private static let comparisonLife: Duration = .seconds(1)
    /// Largest number of tags that a search finds.
    private static let mostFound = 50

    /// - Parameter owner: Not retained; it must outlive the page.
    init(_ owner: any SitePageOwner) { self.owner = owner }

    var pageFiles: [PageFile] {
        PageFile.shared + [
            PageFile(path: "/", type: "text/html; charset=utf-8", content: PackageResources.rooms_html),
            PageFile(path: "/rooms.js", type: "text/javascript; charset=utf-8", content: PackageResources.rooms_js),
            PageFile(path: "/rooms.css", type: "text/css; charset=utf-8", content: PackageResources.rooms_css),
        ]
    }

    func pageState() -> JSONValue { snapshot(isWatched: true).json }

    func pageMetrics(_ clients: ClientCounters) -> String { snapshot(isWatched: false).metrics(clients) }

    // MARK: - What is shown

    /// - Parameter isWatched: Whether the snapshot is for a page, so that the probabilities are recorded for its plots.
    private func snapshot(isWatched: Bool) -> SiteSnapshot {
        let site = owner.site
        var snapshot = owner.pageFrame
        let now = snapshot.now
        let tags = site.tags
        var occupants: [String: (count: Int, names: [String])] = [:]
        for index in tags.indices {
            let decided = site.engine.decided(ofTag: index)
            if decided.isHome {
                snapshot.tagCounts.home += 1
            } else if site.roster.states[index].wasNeverHeard {
                snapshot.tagCounts.unheard.append(tags[index].name)
            }
            if let percent = site.roster.states[index].lowBattery {
                snapshot.tagCounts.lowBatteries.append((tags[index].name, percent))
            }
            guard let room = decided.room?.id else { continue }
            occupants[room, default: (0, [])].count += 1
            if occupants[room, default: (0, [])].count <= SiteSnapshot.namedTags {
                occupants[room]?.names.append(tags[index].name)
            }
        }
        snapshot.tagCounts.all = tags.count
        snapshot.gateways = gateways(of: site, snapshot)
        let listening = Set(snapshot.gateways.filter(\.report.isListening).map(\.report.name))
        let known = Set(site.engine.knownRooms.map(\.id))
        snapshot.rooms = site.engine.plan.roomReports.filter { known.contains($0.name.id) }.map {
            let inside = occupants[$0.name.id]
            return SiteSnapshot.ShownRoom(
                report: $0, count: inside?.count ?? 0, tags: inside?.names ?? [],
                floor: site.roster.floors.floor(of: $0.name),
                isStale: !$0.gateways.isEmpty && listening.isDisjoint(with: $0.gateways))
        }
        snapshot.services = site.election.cards
        snapshot.question = site.siteTags.list.question
        snapshot.roomQuestions = site.engine.plan.questions(at: now)
        snapshot.floorProblems = site.whereabouts.gateways.floors.problems(
            among: snapshot.rooms.map(\.report.name), connected: site.whereabouts.connected, at: now)
        snapshot.survey = SiteSurveyState(site)
        snapshot.rivals = site.whereabouts.virtualNodes.advice(at: now)
        snapshot.counters = SiteSnapshot.Counters(
            engine: site.engine.counters, site: site.counters,
            unknownIDs: (site.whereabouts.aliases.unknown, site.whereabouts.aliases.unknownIDs),
            malformed: site.malformed, sealed: snapshot.service.refused,
            commands: site.commandCounts)
        if isWatched {
            snapshot.tags = watchedTags(site, tags, at: now)
            snapshot.service.nearby = nearby(snapshot, tags)
        }
        return snapshot
    }

    /// The beacons that the page requested, each with the room of the nearest gateway and the name of its tag.
    private func nearby(_ frame: SiteSnapshot, _ tags: [TagIdentity]) -> SiteSnapshot.Nearby? {
        guard let report = owner.nearby.report(at: frame.now) else { return nil }
        var names: [BeaconID: String] = [:]
        let listed = Set(report.beacons.map(\.beacon))
        for tag in listed.isEmpty ? [] : tags {
            if let major = tag.pattern.major, let minor = tag.pattern.minor {
                let beacon = BeaconID(uuid: tag.pattern.uuid, major: major, minor: minor)
                if listed.contains(beacon) { names[beacon] = tag.name }
            } else {
                for beacon in listed where tag.pattern.matches(beacon) { names[beacon] = tag.name }
            }
        }
        let rooms = Dictionary(frame.gateways.map { ($0.report.name, $0.report.room?.name) }) { first, _ in first }
        return SiteSnapshot.Nearby(
            left: report.left,
            beacons: report.beacons.map {
                .init(heard: $0, room: rooms[$0.gateway] ?? nil, tag: names[$0.beacon])
            })
    }

    private func watchedTags(
        _ site: Site, _ tags: [TagIdentity], at now: MonotonicInstant
    ) -> [SiteSnapshot.ShownTag] {
        let configured = site.siteTags.regions.configuredIDs
        history.keepOnly(Set(tags.prefix(BeliefHistory.mostTags).map(\.id)))
        return tags.indices.prefix(SiteSnapshot.listedTags).map { self.shown(site, $0, configured, at: now) }
    }

    private func shown(
        _ site: Site, _ index: Int, _ configured: Set<String>, at now: MonotonicInstant
    ) -> SiteSnapshot.ShownTag {
        let tag = site.tags[index]
        let explanation = site.engine.explanation(ofTag: index, at: now)
        let belief = explanation.isHome ? explanation.belief : []
        if index < BeliefHistory.mostTags {
            history.record(tag: tag.id, belief.map { ($0.room.id, $0.probability) }, at: now)
        }
        return SiteSnapshot.ShownTag(
            id: tag.id, published: site.roster.states[index], beacon: tag.pattern.description,
            isConfigured: configured.contains(tag.id), belief: belief, training: explanation.training,
            series: history.series(ofTag: tag.id, at: now),
            isStale: explanation.isHome && !explanation.levels.contains(where: \.isListening))
    }

    /// Of the tags that are not listed, the first whose name or room has this text.
    private func found(_ text: String) -> JSONValue {
        let (site, frame) = (owner.site, owner.pageFrame)
        let wanted = text.lowercased()
        let configured = site.siteTags.regions.configuredIDs
        let indices = site.tags.indices.dropFirst(SiteSnapshot.listedTags).lazy.filter { index in
            site.tags[index].name.lowercased().hasPart(wanted)
                || site.roster.states[index].room?.name.lowercased().hasPart(wanted) == true
        }.prefix(Self.mostFound)
        let tags = indices.map { index in
            (
                site.tags[index].id,
                self.shown(site, index, configured, at: frame.now).json(at: frame.now, isCurrent: frame.isCurrent)
            )
        }
        return ["tags": .object(Dictionary(tags) { first, _ in first })]
    }

    private func gateways(of site: Site, _ frame: SiteSnapshot) -> [SiteSnapshot.ShownGateway] {
        let cards = site.whereabouts.gateways.cards
        let usual = Self.usualVersion(cards.values.compactMap(\.version))
        // Without a connection, the silence of a gateway means nothing.
        let connected = frame.broker.phase == .connected ? frame.broker.since ?? frame.now : frame.now
        let health = Dictionary(
            site.whereabouts.gateways.health(in: site.engine, connected: connected, at: frame.now).map {
                ($0.name, $0)
            }
        ) { first, _ in first }
        return site.engine.plan.gatewayReports.map { report in
            let version = cards[report.name]?.version ?? ""
            return SiteSnapshot.ShownGateway(
                report: report, card: cards[report.name], trouble: health[report.name]?.trouble,
                formerRoom: health[report.name]?.formerRoom,
                isOfOtherVersion: !version.isEmpty && version != usual)
        }
    }

    /// The most frequent version of the gateways; of equally frequent ones, the alphabetically last.
    private static func usualVersion(_ versions: [String]) -> String? {
        let counts = Dictionary(grouping: versions.filter { !$0.isEmpty }) { $0 }.mapValues(\.count)
        return counts.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
    }

    // MARK: - What is asked

    func read(_ request: PageRequest) -> PageAnswer? {
        switch request.path {
        case "/tag.json":
            guard let id = request.argument("id") else {
                return .refused(status: 400, "say which: /tag.json?id=ID")
            }
            let site = owner.site
            guard let index = site.roster.index(ofTag: id) else {
                return .refused(status: 404, "there is no such tag")
            }
            return .json(reasons(site, index))
        case "/tags.json":
            guard let text = request.argument("search"), !text.isEmpty, text.utf8.count <= 400 else {
                return .refused(status: 400, "say what to search: /tags.json?search=TEXT")
            }
            return .json(found(text))
        case "/gateway.json": return owner.offer(for: request)
        case "/day.json": return .json(["visits": .array(owner.day.map(\.json))])
        case "/room.json":
            guard let id = request.argument("id") else {
                return .refused(status: 400, "say which: /room.json?id=ID")
            }
            return result(ofRoom: id, tag: request.argument("tag"))
        default: return nil
        }
    }

    private func reasons(_ site: Site, _ index: Int) -> JSONValue {
        let now = owner.now
        let tag = site.engine.explanation(ofTag: index, at: now)
        let influences = site.engine.influences(ofTag: index)
        return [
            "id": .string(site.tags[index].id), "name": .shown(site.tags[index].name),
            "configured": .bool(site.siteTags.regions.configuredIDs.contains(site.tags[index].id)),
            "reasons": .array(
                SiteText.reasons(
                    tag, influences, leaveTimeout: site.engine.leaveTimeout(ofTag: index, at: now), at: now
                ).map { .string($0) }),
            "needed": .hundredths(Double(tag.needed)),
            "influences": .array(
                influences.map {
                    [
                        "gateway": .shown($0.gateway),
                        "dBm": .optional($0.level.map { .integer(Int64($0.rounded())) }),
                        "logOdds": .hundredths(Double($0.logOdds)),
                    ]
                }),
            "levels": .array(
                tag.levels.map {
                    [
                        "gateway": .shown($0.gateway), "room": .optional($0.room.map { .shown($0.name) }),
                        "dBm": .integer(Int64($0.level.rounded())), "ago": .ago($0.at, at: now),
                        "listening": .bool($0.isListening),
                    ]
                }),
        ]
    }

    /// The result of the training of a room.
    ///
    /// - Parameter tag: The id of the carried tag; the result then includes how often it was heard.
    private func result(ofRoom id: String, tag: String?) -> PageAnswer {
        let site = owner.site
        let rooms = site.engine.plan.roomReports
        guard let room = rooms.first(where: { $0.name.id == id }) else {
            return .refused(status: 404, "there is no such room")
        }
        let index = tag.flatMap(site.roster.index(ofTag:))
        let run = index.flatMap { site.engine.explanation(ofTag: $0, at: owner.now).training }
        let confusion: RoomConfusion?
        if let last = comparison, last.at.duration(to: owner.now) < Self.comparisonLife {
            guard last.room == id else { return .refused(status: 503, "another room is compared now; ask again") }
            confusion = last.outcome
        } else {
            confusion = site.engine.plan.confusion(ofRoom: id)
            comparison = (id, owner.now, confusion)
        }
        let others = rooms.filter { $0.name.id != id && !($0.gateways.isEmpty && $0.labelledSeconds == 0) }
        let text = SiteText.training(
            of: room.name.name, confusion, run: run?.room.id == id ? run : nil,
            others: others.map { ($0.name.name, $0.labelledSeconds > 0) })
        return .json([
            "id": .string(id), "name": .shown(room.name.name), "result": .array(text.map { .string($0) }),
            "seconds": .tenths(Double(room.labelledSeconds)),
            "mistaken": .array(
                (confusion?.mistaken ?? []).prefix(10).map {
                    ["room": .string($0.room.id), "share": .hundredths(Double($0.share))]
                }),
        ])
    }

    // MARK: - What is changed

    func change(_ path: String, _ body: JSONValue) -> PageAnswer? {
        func text(_ member: String) -> String? { body[member]?.string }
        let missing: (String) -> PageAnswer = { .refused(status: 400, "the member '\($0)' is missing") }
        switch path {
        case "/tags":
            guard let name = text("name") else { return missing("name") }
            guard let beacon = text("beacon") else { return missing("beacon") }
            return answer(owner.carryOut(.addTag(name: name, beacon: beacon)))
        case "/tags/rename":
            guard let id = text("id") else { return missing("id") }
            guard let name = text("name") else { return missing("name") }
            return answer(owner.carryOut(.renameTag(id: id, to: name)))
        case "/tags/remove":
            guard let id = text("id") else { return missing("id") }
            return answer(owner.carryOut(.removeTag(id: id)))
        case "/tags/adopt":
            guard !owner.site.siteTags.list.isAwaited else {
                return .refused(status: 503, "the site's list has not arrived yet")
            }
            return answer(owner.carryOut(.adoptTags))
        case "/nearby": return answer(owner.carryOut(.search(NearbyBeacons.duration)))
        case "/learn":
            do throws(FeedError) {
                return answer(owner.carryOut(.learn(try FeedDecoder.learn(body.bytes))))
            } catch {
                return answer("\(error)")
            }
        case "/rooms/forget":
            guard let id = text("id") else { return missing("id") }
            guard let room = owner.site.engine.knownRooms.first(where: { $0.id == id }) else {
                return answer("there is no such room")
            }
            return answer(owner.carryOut(.learn(.forget(room: room))))
        case "/rooms/rename":
            guard let room = text("from").flatMap({ RoomName($0) }) else { return missing("from") }
            guard let new = text("to").flatMap({ RoomName($0) }) else { return missing("to") }
            let refusal = owner.site.engine.plan.refusal(ofRenaming: room, to: new, at: owner.now)
            return answer(refusal?.text ?? owner.carryOut(.learn(.rename(room: room, to: new))))
        case "/gateways/moved":
            guard let gateway = text("gateway") else { return missing("gateway") }
            let refusal = owner.site.refusal(ofMoving: gateway, at: owner.now)
            return answer(refusal ?? owner.carryOut(.learn(.moved(gateway: gateway))))
        default: return nil
        }
    }

    private func answer(_ refusal: String?) -> PageAnswer {
        refusal.map { .refused(status: 422, $0) } ?? .done
    }
}
