import Advertising
import Base
import Beacon
import Gateway
import JSON
import OwnTracks
import Runtime
import Scanning
import Shell
import SiteProtocol
import Status
import Storage

/// This gateway's part in the survey of a site (`SurveyBeacons`): it sends the beacon that the site's list asks it for, and knows the
/// beacons of the other gateways. Without a survey in the list it does nothing.
final class SurveyPart {
    /// The key of the store under which it has what would be left on the air if the program was killed.
    static let storeKey = "advertisements"

    private unowned let app: App<Gateway>
    private let radio: any RadioLink
    /// nil: the site has no survey, or is not known.
    private var beacons: SurveyBeacons?
    /// As the site names this gateway.
    private(set) var ownName = ""
    private var isQuiet = false
    /// The beacon that it is to send; nil: none.
    private var wanted: BeaconID?
    private var toldState = SendingState.off
    private var stored: [AdvertisementPlace] = []

    init(_ app: App<Gateway>, _ radio: any RadioLink) { (self.app, self.radio) = (app, radio) }

    // MARK: - What the site asks

    /// - Parameters:
    ///   - beacons: nil: the site asks for none.
    ///   - name: As the site names this gateway.
    func adopt(_ beacons: SurveyBeacons?, by name: String) {
        guard beacons != self.beacons || name != ownName else { return }
        (self.beacons, ownName) = (beacons, name)
        send()
    }

    /// In quiet mode nothing is sent.
    func setQuiet(_ isQuiet: Bool) {
        guard isQuiet != self.isQuiet else { return }
        self.isQuiet = isQuiet
        send()
    }

    private func send() {
        wanted = isQuiet ? nil : beacons?.beacon(of: ownName)
        radio.send(wanted)
    }

    /// The gateway of the site that sends a beacon; nil: none does.
    func gateway(sending beacon: BeaconID) -> String? { beacons?.gateway(sending: beacon) }

    /// The beacons of the other gateways.
    var heard: [BeaconID] { beacons?.beacons(heardBy: ownName) ?? [] }

    // MARK: - What becomes of it

    /// The radio says that something else has become of the beacon.
    func sendingChanged() {
        keep()
        let state = radio.sending
        guard state != toldState else { return }
        let before = toldState
        toldState = state
        switch state {
        case .sends:
            if let own = self.state { app.log.notice("the beacon for the other gateways is sent: \(own.text)") }
        case .refused(let problem):
            app.log.once("survey", .warning, "the beacon for the other gateways is not sent: \(problem)")
        case .off:
            if case .sends = before { app.log.notice("the beacon for the other gateways is sent no longer") }
        case .asked: break
        }
    }

    /// What the card says of it; nil: nothing is asked for, or the controller has not answered yet.
    var sending: SurveySending? {
        guard let wanted else { return nil }
        return switch radio.sending {
        case .off, .asked: nil
        case .sends(_, let interval, _):
            .sends(minor: wanted.minor, interval: interval.nanoseconds / 1_000_000)
        case .refused(let problem): .refused(minor: wanted.minor, reason: problem.text)
        }
    }

    /// What the status shows.
    var state: StatusSnapshot.OwnBeacon? {
        guard let wanted else { return nil }
        var own = StatusSnapshot.OwnBeacon(wanted)
        switch radio.sending {
        case .off, .asked: break
        case .sends(let adapter, let interval, let burst):
            (own.adapter, own.interval, own.burst) = ("hci\(adapter)", interval, burst)
        case .refused(let problem): own.problem = .init(text: problem.text, remedy: problem.remedy)
        }
        return own
    }

    // MARK: - What is left on the air

    /// Removes what an earlier run of the program has left. What was left before the machine was started anew is gone.
    func restore(_ snapshot: StoreSnapshot) {
        guard let value = snapshot.values[ExactString(Self.storeKey)], let json = try? JSONValue(parsing: value) else {
            return
        }
        stored = (json["places"]?.array ?? []).compactMap { place in
            guard let adapter = place["adapter"]?.asInteger.flatMap({ UInt64(exactly: $0) }),
                let instance = place["instance"]?.asInteger.flatMap({ UInt8(exactly: $0) })
            else { return nil }
            return AdvertisementPlace(adapter: DeviceAddress(value: adapter, isRandom: false), instance: instance)
        }
        if json["boot"]?.string == app.host.bootID { radio.remove(stored) }
        keep()
    }

    private func keep() {
        let places = radio.advertisements
        guard places != stored else { return }
        stored = places
        let json: JSONValue = [
            "boot": .string(app.host.bootID),
            "places": .array(
                places.map { ["adapter": .integer(Int64($0.adapter.value)), "instance": .integer(Int64($0.instance))] }),
        ]
        app.links.store.submit(.commit([.value(key: Self.storeKey, json.bytes)]))
    }
}
