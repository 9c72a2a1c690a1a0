import Base
import Beacon
import JSON
import RoomsApp
import Shell
import SiteCore
import SiteProtocol
import System

/// The state of a site, from its retained messages.
struct SiteStatus {
    /// The topic filters to subscribe to, below `ibeacon-rooms/<site>`.
    static let filters = ["tags", "tag/+", "room/+", "gateway/+", "health/+", "service/+"]

    /// Whole topic filters that a broker may refuse.
    static func optionalFilters(_ identity: RoomServiceIdentity) -> Set<String> {
        ["ibeacon-rooms/\(identity.site)/phones/+", "espresense/settings/+/config"]
    }

    let site: String
    private var tags: [SiteTag] = []
    private var rooms: [(id: String, state: JSONValue, room: PublishedRoom?)] = []
    private(set) var gateways: [SiteGateway] = []
    private(set) var services = SiteServices()
    /// Gateways that are online and have no card of this site.
    private var strangers: [String] = []
    /// Gateways that share the keys of phones.
    private var sharers: Set<String> = []

    /// Why messages of the services cannot be decrypted; nil if all can.
    private var reasonOfClosure: SealError?

    /// The state that a connection has collected.
    init(_ topics: SiteTopics) {
        self.init(
            topics.retained, closed: topics.closed.mapValues(\.reason), site: topics.identity.site, still: topics.still)
    }

    /// - Parameters:
    ///   - retained: The payloads by topic.
    ///   - closed: Why other messages cannot be decrypted, by topic.
    ///   - still: For how long the cards of services that say that they are active have not changed (`SiteTopics.watchCards`).
    init(
        _ retained: [String: [UInt8]], closed: [String: SealError], site: String, still: [String: Duration] = [:]
    ) {
        self.site = site
        services = SiteServices(still: still)
        var found: [String: SiteGateway] = [:]
        var availability: [String: String] = [:]
        for (topic, payload) in retained.sorted(by: { $0.key < $1.key }) {
            if case .availability(let device) = RoomTopic(topic) {
                availability[SiteMessage.gateway(ofLevel: device)] = String(decoding: payload, as: UTF8.self)
            }
            guard let json = try? JSONValue(parsing: payload) else { continue }
            switch RoomTopic(topic) {
            case .tag(_, let id): tags.append(SiteTag(id: id, state: json))
            case .room(_, let id): rooms.append((id, json, PublishedRoom(payload)))
            case .service(_, let id): services.add(id, json, payload)
            case .card(_, let id): found[id, default: SiteGateway(id: id)].setCard(json)
            case .health(_, let id): found[id, default: SiteGateway(id: id)].health = json
            case .phones(_, let id): sharers.insert(id)
            case .espresenseSettings(let beacon):
                if let alias = try? FeedDecoder.espresenseAlias(of: beacon, payload) { aliases[beacon] = alias }
            case .tags: list = try? FeedDecoder.tags(payload)
            default: break
            }
        }
        for (topic, reason) in closed {
            switch RoomTopic(topic) {
            case .card(_, let id): found[id, default: SiteGateway(id: id)].isClosed = true
            case .service, .tags: reasonOfClosure = reason
            case .phones(_, let id): sharers.insert(id)
            default: break
            }
        }
        strangers = availability.filter { $0.value == "online" && found[$0.key] == nil }.keys.sorted()
        gateways = found.values.sorted { $0.id < $1.id }.map { gateway in
            var gateway = gateway
            gateway.availability = availability[gateway.id]
            gateway.asked = list?.survey?.minors[gateway.id]
            // Without an active service, the retained health is old.
            if !hasActiveService { gateway.health = nil }
            gateway.isUnheard = hasActiveService && gateway.health == nil && gateway.room != nil
            return gateway
        }
    }

    /// The rooms service of this machine; nil: none runs here, or it was not asked.
    var localService: LocalRoomsService?

    /// Sentences by the id of the tag.
    private var reasons: [String: [String]] = [:]

    /// Largest number of tags whose reasons are shown: the text of many is long.
    static let mostReasons = 20
    /// Whether there are too many tags for their reasons to be shown.
    private var lacksReasons = false

    /// Why each tag is where it is, as the active service says: for all tags, or for none.
    ///
    /// - Parameter ask: The sentences of a tag; nil if the service does not answer.
    mutating func addReasons(_ ask: (String) -> [String]?) {
        lacksReasons = tags.count > Self.mostReasons
        guard !lacksReasons else { return }
        var found: [String: [String]] = [:]
        for tag in tags {
            guard let sentences = ask(tag.id) else { return }
            found[tag.id] = sentences
        }
        reasons = found
    }

    /// What the service could not use, as it says.
    var unread = UnreadMessages()
    /// The ids that ESPresense's settings give to beacons.
    private(set) var aliases: [BeaconID: String] = [:]
    /// The tags of the site's list.
    var listed: [TagList.Tag] { list?.tags ?? [] }
    private var list: TagList?

    /// Whether the card of a service says that it is active, and is believed.
    var hasActiveService: Bool { !services.active.isEmpty }

    func needActiveService() throws(Failure) {
        guard !hasActiveService else { return }
        if let closure { throw Failure(.badData, "\(closure.text); \(closure.remedy)") }
        let reason = (["no rooms service is active for site '\(site)'"] + services.remarks).joined(separator: "; ")
        throw Failure(.unavailable, Terminal.printable("\(reason); see: ibeacon-gateway rooms status"))
    }

    private var floors: [String: Int] {
        .init(rooms.compactMap { room in room.room?.floor.map { (room.id, $0) } }) { $1 }
    }

    /// The rooms that the service publishes.
    var publishedRooms: [RoomName] { rooms.compactMap { RoomName(id: $0.id, name: $0.room?.name ?? $0.id) } }

    /// The ids of the rooms in which the gateways stand, with the gateways. A gateway's message has the name of the room alone.
    private var gatewaysByRoom: [String: [SiteGateway]] {
        let published = publishedRooms
        return Dictionary(
            grouping: gateways.compactMap { gateway in
                gateway.room.flatMap { RoomName($0) }.map { name in
                    (id: published.first { $0.isSame(as: name) }?.id ?? name.id, gateway: gateway)
                }
            }, by: \.id
        ).mapValues { $0.map(\.gateway) }
    }

    /// The tag with this id or name, in any case of letters.
    func tag(_ name: String) throws(Failure) -> SiteTag {
        let lowered = name.lowercased()
        if let tag = tags.first(where: { $0.id == name || $0.name == name })
            ?? tags.first(where: { $0.id.lowercased() == lowered || $0.name.lowercased() == lowered })
        {
            return tag
        }
        throw Failure(
            .badData,
            "site '\(site)' has no tag '\(name)', or it was never heard\(hint(for: name, among: tags.map(\.name)))")
    }

    func gateway(_ name: String) throws(Failure) -> SiteGateway {
        if let gateway = gateways.first(where: { $0.id == name }) { return gateway }
        throw Failure(.badData, "site '\(site)' has no gateway '\(name)'\(hint(for: name, among: gateways.map(\.id)))")
    }

    // MARK: JSON

    var json: JSONValue {
        let byRoom = gatewaysByRoom
        let roomsWithGateways = rooms.map { id, state, _ in
            var members = state.object ?? [:]
            members["gateways"] = .array((byRoom[id] ?? []).map { .string($0.id) })
            return (id, JSONValue.object(members))
        }
        let tagsWithReasons = tags.map { tag in
            var members = tag.state.object ?? [:]
            members["reasons"] = reasons[tag.id].map { .array($0.map(JSONValue.string)) }
            return (tag.id, JSONValue.object(members))
        }
        return .object([
            "tags": Self.object(tagsWithReasons), "rooms": Self.object(roomsWithGateways),
            "services": Self.object(services.json), "gateways": gatewaysJSON,
            "outside": .array(strangers.map(JSONValue.string)),
            "aliases": .object(shownAliases.mapValues { .string($0) }),
            "unknownIds": .array(unread.unknownIDs.map(JSONValue.string)),
            "malformed": .array(unread.malformed.map(\.json)),
        ])
    }

    var gatewaysJSON: JSONValue { Self.object(gateways.map { ($0.id, $0.json) }) }

    private static func object(_ list: [(id: String, state: JSONValue)]) -> JSONValue {
        .object(Dictionary(list.map { ($0.id, $0.state) }) { first, _ in first })
    }

    // MARK: Text

    func text(now: Int64) -> String {
        var blocks = [head]
        blocks.append(
            tags.isEmpty
                ? "no tag was heard yet; add one with: sudo ibeacon-gateway rooms tags add NAME:UUID:MAJOR:MINOR"
                : SiteTagTable(tags: tags, floors: floors).text(now: now))
        let explained = tags.compactMap { tag in
            reasons[tag.id].map { Terminal.printable("\(tag.name): \($0.joined(separator: " "))") }
        }
        if !explained.isEmpty { blocks.append(explained.joined(separator: "\n")) }
        let batteries = tags.compactMap(\.batteryAdvice).map(Terminal.printable)
        if !batteries.isEmpty { blocks.append(batteries.joined(separator: "\n")) }
        if lacksReasons {
            blocks.append(
                "the page of the service shows why each tag is where it is; here are more than \(Self.mostReasons) tags"
            )
        }
        return (blocks + [gatewaysText]).joined(separator: "\n\n")
    }

    /// The gateways as a table, followed by advice and remarks.
    var gatewaysText: String {
        let table = SiteGatewayTable(gateways: gateways).text
        let advice = self.advice
        return advice.isEmpty ? table : table + "\n\n" + advice.joined(separator: "\n")
    }

    private var advice: [String] {
        let asked = questions.map { "\($0.text): \($0.remedy)" }
        return (gatewayAdvice.map(\.sentence) + asked + remarks + nodeRemarks).map(
            Terminal.printable)
    }

    /// The problems of gateways, with advice. Many gateways with the same problem have one advice.
    var gatewayAdvice: [GatewayAdvice] {
        let byTrouble = Dictionary(grouping: gateways, by: \.trouble).mapValues { $0.map(\.id) }
        return gateways.compactMap { gateway in
            guard let trouble = gateway.trouble, trouble.isFault, let names = byTrouble[trouble] else { return nil }
            guard names.count > GatewayAdvice.mostNamed else {
                return gateway.changeAdvice ?? GatewayAdvice(trouble, of: gateway.id, site: site)
            }
            return names.first == gateway.id ? GatewayAdvice(trouble, of: GatewayAdvice.list(names), site: site) : nil
        }
    }

    /// Gateways that are online and do not share the keys of phones, while others do; each with its version.
    private var gatewaysWithoutPhones: [String] {
        guard !sharers.isEmpty else { return [] }
        return gateways.compactMap { gateway in
            guard let card = gateway.card, gateway.availability == "online", !sharers.contains(gateway.id) else {
                return nil
            }
            return gateway.id + (card.version.map { " (\($0))" } ?? "")
        }
    }

    /// Facts that may be intended: gateways that are not part of this site or do not know its phones, and rooms without a gateway.
    var remarks: [String] {
        let inhabited = gatewaysByRoom
        let empty = rooms.filter { inhabited[$0.id] == nil }.map { $0.room?.name ?? $0.id }
        let withoutPhones = gatewaysWithoutPhones
        return strangers.map {
            "\($0) is online and does not take part in this site: it has rooms: null, another site, a broker that does not "
                + "let it read ibeacon-rooms/\(site)/tags, or a version without rooms"
        }
            + (withoutPhones.isEmpty
                ? []
                : [
                    "no keys of phones are shared by \(GatewayAdvice.list(withoutPhones)): such a gateway runs a version before "
                        + "1.0.0, lacks the key of the site, or may not write to ibeacon-rooms/\(site)/phones"
                ])
            + (empty.count > GatewayAdvice.mostNamed
                ? ["\(GatewayAdvice.list(empty)) have no gateway: these rooms are known from training"]
                : empty.map { "\($0) has no gateway: the room is known from training" })
    }

    /// Why nothing of the site can be read here, with advice; nil if it can be read.
    var closure: (text: String, remedy: String)? {
        guard let reasonOfClosure, !hasActiveService else { return nil }
        return (
            "a message of site '\(site)' cannot be read here: \(reasonOfClosure)",
            "give this machine the key that the service of the site has, as rooms.encryptionKeyFile"
        )
    }

    /// The services that do not know the site's list of tags, or do not have its key, with advice; nil if there is none.
    var adoptionAdvice: (text: String, remedy: String)? {
        let names = services.askingToAdopt
        guard !names.isEmpty else { return nil }
        return (
            "\(names.joined(separator: ", ")) has no stored list of tags, or lacks the key of the site, and does not replace the "
                + "site's list",
            "on that machine: sudo ibeacon-gateway rooms tags adopt; to begin anew: ibeacon-gateway rooms clear"
        )
    }

    private var head: String {
        let adoption = adoptionAdvice.map { ["\($0.text): \($0.remedy)"] } ?? []
        return ([summary] + (services.remarks + adoption).map(Terminal.printable)).joined(separator: "\n")
    }

    private var summary: String {
        if let closure { return "\(closure.text)\n\(closure.remedy)" }
        let (active, standby) = (services.active, services.standby)
        guard !active.isEmpty else {
            if let localService {
                return "site '\(site)': no rooms service is active\n"
                    + Terminal.printable("\(localService.text): \(localService.remedy)")
            }
            return "site '\(site)': no rooms service is active; start one with: "
                + "sudo systemctl enable --now ibeacon-gateway-rooms"
        }
        let others = standby.isEmpty ? "" : ", not active: \(standby.joined(separator: ", "))"
        return Terminal.printable("site '\(site)': decided by \(active.joined(separator: " and "))\(others)")
    }
}
