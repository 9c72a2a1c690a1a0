import Glibc
import JSON
import OwnTracks
import RoomMessages
import RoomService
import Service
import System

/// `rooms status`: the tags, rooms and gateways of a site, as the broker retains them. It works on every machine that reaches
/// the broker.
enum RoomsStatusCommand {
    static func run(_ arguments: Arguments) throws -> ExitCode {
        let settings = try Settings.load(arguments)
        let topics = try SiteTopics(settings, filters: ["tags", "tag/+", "room/+", "gateway/+", "service/+"])
        defer { topics.close() }
        try topics.collect()
        let status = SiteStatus(topics.retained)
        if arguments.has("json") {
            Terminal.print(status.json.text)
        } else {
            Terminal.print(status.text(site: topics.identity.site, now: Int64(time(nil))))
        }
        return status.hasActiveService ? .ok : .unavailable
    }
}

/// What the retained messages of a site say.
struct SiteStatus {
    private var tags: [(id: String, state: JSONValue)] = []
    private var rooms: [(id: String, state: JSONValue)] = []
    private var gateways: [(id: String, card: JSONValue, availability: String?)] = []
    private var services: [(id: String, card: JSONValue)] = []

    /// - Parameter retained: The payloads by topic.
    init(_ retained: [String: [UInt8]]) {
        for (topic, payload) in retained.sorted(by: { $0.key < $1.key }) {
            guard let json = try? JSONValue(parsing: payload) else { continue }
            switch RoomTopic(topic) {
            case .tag(_, let id): tags.append((id, json))
            case .room(_, let id): rooms.append((id, json))
            case .service(_, let id): services.append((id, json))
            case .card(_, let id):
                let availability = retained[RoomTopic.availability(gateway: id).text]
                gateways.append((id, json, availability.map { String(decoding: $0, as: UTF8.self) }))
            default: break
            }
        }
    }

    /// Whether a service says that it decides.
    var hasActiveService: Bool { services.contains { $0.card["active"]?.asBool == true } }

    var json: JSONValue {
        func object(_ list: [(id: String, state: JSONValue)]) -> JSONValue {
            .object(Dictionary(list.map { ($0.id, $0.state) }) { first, _ in first })
        }
        return .object([
            "tags": object(tags), "rooms": object(rooms), "services": object(services.map { ($0.id, $0.card) }),
            "gateways": object(
                gateways.map { id, card, availability in
                    var members = card.object ?? [:]
                    members["availability"] = availability.map(JSONValue.string) ?? .null
                    return (id, .object(members))
                }),
        ])
    }

    func text(site: String, now: Int64) -> String {
        var blocks = [head(site)]
        blocks.append(
            tags.isEmpty
                ? "no tag was heard yet; add one with: ibeacon-gateway rooms tags add NAME:UUID:MAJOR:MINOR"
                : Terminal.table(
                    ["TAG", "ROOM", "FOR", "CONFIDENCE"],
                    tags.map { id, state in
                        let isHome = state["home"]?.asBool == true
                        let room = isHome ? state["roomName"]?.string ?? "at home" : "away"
                        let confidence = state["confidence"]?.asNumber.map { "\(Int(($0 * 100).rounded())) %" } ?? ""
                        let seconds = state["since"]?.asInteger.map { max(0, now - $0) }
                        return [
                            state["name"]?.string ?? id, room, seconds.map(Self.span) ?? "", isHome ? confidence : "",
                        ]
                    }))
        blocks.append(
            gateways.isEmpty
                ? "no gateway has said where it stands; each needs the same broker and site"
                : Terminal.table(
                    ["GATEWAY", "ROOM", "STATE", "SCANNER", "VERSION"],
                    gateways.map { id, card, availability in
                        [
                            id, card["room"]?.string ?? "", availability ?? "unknown", card["scanner"]?.string ?? "",
                            card["version"]?.string ?? "",
                        ]
                    }))
        return blocks.joined(separator: "\n\n")
    }

    private func head(_ site: String) -> String {
        let active = services.filter { $0.card["active"]?.asBool == true }.map(\.id)
        let standby = services.filter { $0.card["active"]?.asBool != true }.map(\.id)
        guard !active.isEmpty else {
            return "site '\(site)': no rooms service is active; start one with: "
                + "sudo systemctl enable --now ibeacon-gateway-rooms"
        }
        let others = standby.isEmpty ? "" : ", not active: \(standby.joined(separator: ", "))"
        return "site '\(site)': decided by \(active.joined(separator: " and "))\(others)"
    }

    private static func span(_ seconds: Int64) -> String {
        switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3600: "\(seconds / 60) min"
        case ..<86_400: "\(seconds / 3600) h \(seconds / 60 % 60) min"
        default: "\(seconds / 86_400) d \(seconds / 3600 % 24) h"
        }
    }
}
