import Base
import Health
import JSON
import PageServer
import Rooms
import SiteCore
import SiteProtocol
import Testing

@testable import RoomsApp

/// The page of a service whose gateways hear each other.
@Suite struct SiteSurveyPageTests {
    private static let gateways = ["bath", "hall", "kitchen", "study"]
    private static let minors = Dictionary(zip(gateways, UInt16(1)...)) { first, _ in first }

    private final class Owner: SitePageOwner {
        var site: Site
        var now = MonotonicInstant.zero.advanced(by: .seconds(1000))
        private(set) var requests: [SiteRequest] = []
        let nearby = NearbyBeacons()
        let day: [Visits.Visit] = []

        init(_ site: Site) { self.site = site }

        var pageFrame: SiteSnapshot {
            let service = SiteSnapshot.ServiceState(
                site: "home", instance: "a", role: "active", version: "1", startedAt: .zero)
            let broker = BrokerState(name: "broker", phase: .connected)
            let clock = WallClock(epochOffset: 1_700_000_000_000_000_000, isKnown: true)
            return SiteSnapshot(now: now, wallClock: clock, service: service, broker: broker)
        }

        // The page does not keep its owner.
        private lazy var page = SitePage(self)
        func state() -> JSONValue { page.pageState() }
        func metrics() -> String { page.pageMetrics(ClientCounters()) }
        func change(_ path: String, _ body: JSONValue) -> PageAnswer? { page.change(path, body) }

        func offer(for request: PageRequest) -> PageAnswer? { nil }

        func carryOut(_ request: SiteRequest) -> String? {
            requests.append(request)
            return nil
        }
    }

    /// The page after a quarter of an hour.
    ///
    /// - Parameter loss: By how much the hall hears and is heard less than usual, dB.
    private func owner(surveys: Bool = true, loss: Float = 0) -> Owner {
        var settings = SiteSettings()
        (settings.site, settings.instance, settings.surveysGateways) = ("home", "a", surveys)
        let owner = Owner(
            Site(settings, wallClock: WallClock(epochOffset: 1_700_000_000_000_000_000, isKnown: true)))
        var stored = StoredSite()
        stored.surveyMinors = Self.minors
        stored.surveyLevels = Self.gateways.flatMap { sender in
            Self.gateways.filter { $0 != sender }.map {
                LevelSurvey.StoredPair(sender: sender, receiver: $0, mean: -60, variance: 2, blocks: 3360)
            }
        }
        _ = owner.site.handle(.start(stored), at: owner.now)
        for step in 0..<400 {
            owner.now = owner.now.advanced(by: .seconds(2))
            while let due = owner.site.nextDeadline, due < owner.now { _ = owner.site.handle(.tick, at: due) }
            for gateway in Self.gateways { speak(gateway, second: 2 * step, loss: loss, owner) }
        }
        return owner
    }

    private func speak(_ gateway: String, second: Int, loss: Float, _ owner: Owner) {
        let sending: SurveySending? =
            switch gateway {
            case "bath": .refused(minor: 1, reason: "no advertising set is free")
            case "study": nil
            default: .sends(minor: Self.minors[gateway] ?? 0, interval: 1000)
            }
        let card = GatewayCard(room: RoomName(gateway), version: "1.1", scanner: "mgmt", survey: sending)
        _ = owner.site.handle(.message(.card(gateway: gateway, card), isRetained: false), at: owner.now)
        let beacons = owner.site.siteTags.list.minors?.beacons
        let readings = (beacons?.beacons(heardBy: gateway) ?? []).map { beacon in
            let isLost = gateway == "hall" || beacons?.gateway(sending: beacon) == "hall"
            return Reading(beacon: beacon, count: 1, level: isLost ? -60 - loss : -60, power: -59, age: .zero)
        }
        let heard = HeardSecond(
            startID: "b", sequence: Int64(second), at: .seconds(second), listening: .seconds(1), reports: 4,
            readings: readings)
        _ = owner.site.handle(.message(.heard(gateway: gateway, heard), isRetained: false), at: owner.now)
    }

    private func texts(_ state: JSONValue) -> [String] {
        (state["findings"]?.array ?? []).compactMap { $0["text"]?.string }
    }

    @Test func `It shows for each gateway whether it sends its beacon, and by how many others it is heard`() throws {
        let survey = try #require(owner().state()["survey"]?["gateways"])
        let said = Self.gateways.map { survey[$0]?["state"]?.string ?? "" }
        #expect(
            said == [
                "refused: no advertising set is free", "sends every 1000 ms", "sends every 1000 ms",
                "asked for, not confirmed",
            ])
        // What is not confirmed counts for nothing.
        #expect(Self.gateways.map { survey[$0]?["heardBy"]?.asInteger } == [0, 3, 3, 0])
        #expect(Self.gateways.map { survey[$0]?["sends"]?.asBool } == [false, true, true, false])
    }

    @Test func `A gateway that was moved is a finding with what to do, and its state says so`() throws {
        let owner = owner(loss: 25)
        let state = owner.state()
        let finding = try #require(texts(state).first { $0.contains("hall") })
        #expect(finding.hasPrefix("the gateway hall and ") && finding.hasSuffix(": was it moved?"), "\(finding)")
        #expect(state["survey"]?["questions"]?.array?.map { $0["text"]?.string } == [finding])
        #expect(state["gateways"]?["hall"]?["health"]?["problem"] == "moved")
        let findings = state["findings"]?.array ?? []
        #expect(findings.filter { $0["subject"] == "gateways" }.count == 1, "told once")
        #expect(findings.contains { $0["cure"]?.string?.contains("rooms gateways moved hall") == true })
    }

    @Test func `A person answers with a button, and only what is asked`() {
        let owner = owner(loss: 25)
        let refused = owner.change("/gateways/moved", ["gateway": "bath"])
        #expect(refused == .refused(status: 422, "there is no question whether bath was carried"))
        #expect(owner.change("/gateways/moved", ["gateway": "hall"]) == .done)
        #expect(owner.requests == [.learn(.moved(gateway: "hall"))])
    }

    @Test func `Who sends and who is heard is a metric of each gateway`() {
        let metrics = owner().metrics()
        for line in [
            #"ibeacon_rooms_gateway_sends{gateway="hall"} 1"#, #"ibeacon_rooms_gateway_sends{gateway="bath"} 0"#,
            #"ibeacon_rooms_gateway_heard_by{gateway="hall"} 3"#, #"ibeacon_rooms_gateway_changed{gateway="hall"} 0"#,
        ] {
            #expect(metrics.contains("\n\(line)"), "\(line)")
        }
    }

    @Test func `Without the setting the page and the metrics have nothing of it`() {
        let owner = owner(surveys: false)
        #expect(owner.state()["survey"] == .null)
        let metrics = owner.metrics()
        #expect(!metrics.contains("gateway_sends") && !metrics.contains("gateway_offset"))
    }
}
