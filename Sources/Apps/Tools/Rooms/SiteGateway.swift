import JSON
import RoomsApp
import SiteProtocol
import System

/// A gateway as the retained messages of a site show it.
struct SiteGateway {
    let id: String
    /// The gateway's card; nil for an ESPresense node, and for one that cannot be read.
    private(set) var card: GatewayCard?
    /// The members of the card, as published.
    private var cardJSON: JSONValue?
    /// The active service's message about the gateway; nil if there is no active service or no message yet.
    var health: JSONValue?
    /// `online` or `offline`, from the broker.
    var availability: String?

    /// Whether the gateway's card cannot be decrypted.
    var isClosed = false

    init(id: String) { self.id = id }

    mutating func setCard(_ json: JSONValue) { (cardJSON, card) = (json, try? FeedDecoder.card(json.bytes)) }

    private var report: HealthMessage? { health.map(HealthMessage.init) }

    var room: String? { report?.room ?? card?.room?.name }
    /// The room that it named before, if a person must say why.
    var formerRoom: String? { report?.formerRoom }

    /// What the survey says of it.
    var survey: SurveyHealth? { report?.survey }
    /// The minor of the beacon that the site asks it to send; nil: none.
    var asked: UInt16?

    /// Whether it sends its own beacon, and who hears it; empty if it is not asked to.
    var beacon: String {
        guard let asked else { return "" }
        let heard = survey.map { ", heard by \($0.heardBy)" } ?? ""
        let offset = SurveyText.offset(survey?.offset).map { ", \($0)" } ?? ""
        return SurveyText.state(card?.survey, asked: asked) + heard + offset
    }

    /// That it was moved or covered; nil if that is not its trouble.
    var changeAdvice: GatewayAdvice? {
        guard let change = survey?.change, trouble == GatewayHealth.Trouble(change.kind) else { return nil }
        let since = change.since.map { TimeText.short($0, at: Clocks.wallSeconds(), in: .local) }
        return GatewayAdvice(change, of: id, since: since)
    }

    /// Whether the active service has published nothing about the gateway: it was not heard often enough yet.
    var isUnheard = false

    var trouble: GatewayHealth.Trouble? {
        report?.trouble ?? (isClosed ? .wrongKey : isUnheard ? .noReadings : nil)
    }

    /// A short text for a table.
    var state: String {
        switch trouble {
        case .sharedName: "shared name"
        case .offline: "offline"
        case .noReadings: "no readings"
        case .silent: "silent"
        case .late: "late"
        case .notListening: "not listening"
        case .deaf: "deaf"
        case .exchanged: "exchanged?"
        case .sameRadio: "left out"
        case .wrongKey: "wrong key"
        case .moved: "moved?"
        case .covered: "covered?"
        case nil: report?.isListening == true ? "listening" : availability ?? "unknown"
        }
    }

    /// The columns of a table.
    var row: [String] { [id, room ?? "", state, card?.scanner ?? "", card?.version ?? ""] }

    var json: JSONValue {
        var members = cardJSON?.object ?? [:]
        members["availability"] = availability.map(JSONValue.string) ?? .null
        members["health"] = health ?? .null
        members["asked"] = asked.map { .integer(Int64($0)) }
        return .object(members)
    }
}
