import Base
import Health
import JSON
import PageServer
import SiteCore
import SiteProtocol

/// What the page shows of the survey: what the gateways of a site hear of each other's beacons.
struct SiteSurveyState {
    /// A gateway that is asked to send a beacon.
    struct Gateway {
        let name: String
        /// The minor that it is asked to send.
        let asked: UInt16
        /// What its card says; nil: nothing.
        let sending: SurveySending?
        let health: SurveyHealth?
    }

    /// In the order of their names.
    let gateways: [Gateway]
    /// Readings of gateways and pairs that had no place.
    let droppedReadings: Int
    /// Largest number of gateways that are named.
    private static let mostNamed = 5

    /// nil if no gateway is asked for a beacon.
    init?(_ site: Site) {
        guard let minors = site.siteTags.list.minors?.minors else { return nil }
        droppedReadings = site.survey.droppedReadings
        let cards = site.whereabouts.gateways.cards
        gateways = minors.sorted { $0.key < $1.key }.map { name, minor in
            Gateway(
                name: name, asked: minor, sending: cards[name]?.survey, health: site.survey.standing[name])
        }
    }

    // MARK: - What needs attention

    /// What a person is asked of each gateway; of many, of the first few.
    func findings(_ clock: WallClock, at now: MonotonicInstant) -> [Finding] {
        let changed = gateways.compactMap { gateway in gateway.health?.change.map { (gateway.name, $0) } }
        var findings = changed.prefix(Self.mostNamed).map { name, change in
            Finding(
                .warning, "gateways", Self.text(change, of: name, clock, at: now), remedy: change.remedy(of: name))
        }
        if changed.count > Self.mostNamed {
            let rest = changed.dropFirst(Self.mostNamed).map(\.0)
            findings.append(
                Finding(.warning, "gateways", "were moved or covered, too: \(GatewayAdvice.list(rest))"))
        }
        return findings
    }

    private static func text(
        _ change: SurveyHealth.Change, of name: String, _ clock: WallClock, at now: MonotonicInstant
    ) -> String {
        let since = change.since.flatMap { clock.localTime(at: clock.instant(ofEpochSeconds: $0)) }
        let time = since.map { SurveyHealth.Change.time($0, now: clock.localTime(at: now)) }
        return change.text(of: name, since: time)
    }

    // MARK: - As JSON, and for Prometheus

    func json(_ clock: WallClock, at now: MonotonicInstant) -> JSONValue {
        [
            "gateways": .object(Dictionary(gateways.map { ($0.name, $0.json) }) { first, _ in first }),
            "questions": .array(
                gateways.compactMap { gateway in
                    gateway.health?.change.map {
                        [
                            "gateway": .shown(gateway.name), "kind": .string($0.kind.rawValue),
                            "text": .shown(Self.text($0, of: gateway.name, clock, at: now)),
                        ]
                    }
                }),
        ]
    }

    func write(to writer: inout MetricsWriter) {
        writer.family(
            "ibeacon_rooms_gateway_sends", .gauge, "1 while a gateway says that it sends its own beacon.",
            gateways.map { ([("gateway", $0.name)], $0.isSending ? 1 : 0) })
        writer.family(
            "ibeacon_rooms_gateway_heard_by", .gauge, "Number of other gateways that hear the beacon of a gateway.",
            gateways.map { ([("gateway", $0.name)], Double($0.health?.heardBy ?? 0)) })
        writer.family(
            "ibeacon_rooms_gateway_changed", .gauge, "1 while a gateway seems to be moved or covered.",
            gateways.map { ([("gateway", $0.name)], $0.health?.change == nil ? 0 : 1) })
        writer.family(
            "ibeacon_rooms_gateway_offset_decibels", .gauge,
            "How much more a gateway measures than others; it is corrected.",
            gateways.compactMap { gateway in gateway.health?.offset.map { ([("gateway", gateway.name)], Double($0)) } })
        writer.family(
            "ibeacon_rooms_survey_dropped_readings_total", .counter,
            "Readings of gateways' beacons that were left out, because the site has too many gateways.",
            [([], Double(droppedReadings))])
    }
}

extension SiteSurveyState.Gateway {
    fileprivate var isSending: Bool {
        if case .sends(asked, _) = sending { true } else { false }
    }

    fileprivate var json: JSONValue {
        [
            "state": .shown(SurveyText.state(sending, asked: asked)), "sends": .bool(isSending),
            "heardBy": .integer(Int64(health?.heardBy ?? 0)),
            "offset": .optional(health?.offset.map { .integer(Int64($0)) }),
            "measures": .optional(SurveyText.offset(health?.offset).map { .string($0) }),
        ]
    }
}
