import Base
import JSON
import SiteProtocol

/// The rooms services of a site, by their retained cards.
///
/// The card of a service that lost its power together with the broker stays as it was, and may say that the service is active. A service
/// that is active changes its card every two seconds, so a card that does not change is not believed.
struct SiteServices {
    private var cards: [(id: String, state: JSONValue, card: ServiceCard?)] = []
    /// For how long cards that say that their service is active have not changed while they were watched, by the service's name.
    private let still: [String: Duration]

    init(still: [String: Duration] = [:]) { self.still = still }

    mutating func add(_ id: String, _ state: JSONValue, _ payload: [UInt8]) {
        cards.append((id, state, ServiceCard(payload)))
    }

    /// The names of the services that are active.
    var active: [String] { cards.filter { $0.card?.isActive == true && still[$0.id] == nil }.map(\.id) }

    /// The names of those that say that they are not.
    var standby: [String] { cards.filter { $0.card?.isActive != true }.map(\.id) }

    /// The names of those that ask a person whether they may adopt the site's list of tags.
    var askingToAdopt: [String] { cards.filter { $0.card?.asksToAdopt == true }.map(\.id) }

    /// The cards that say that their service is active, by the service's name.
    var activeCards: [String: JSONValue] {
        Dictionary(cards.filter { active.contains($0.id) }.map { ($0.id, $0.state) }) { first, _ in first }
    }

    /// A sentence for each card that says that its service is active, and is not believed.
    var remarks: [String] {
        cards.compactMap { id, _, _ in
            still[id].map {
                "the card of \(id) has not changed for \(seconds($0)) s: this service seems to be dead"
            }
        }
    }

    /// The cards by the service's name; one that is not believed with `unchanged`, in seconds.
    var json: [(id: String, state: JSONValue)] {
        cards.map { id, state, _ in
            guard let unchanged = still[id]?.inSeconds, var members = state.object else { return (id, state) }
            members["unchanged"] = .number(unchanged)
            return (id, .object(members))
        }
    }
}
