import Base
import Beacon
import Configuration
import Gateway
import Identities
import ReadingFeed
import Runtime
import Scanning
import Shell

/// The radio: what it is to hear, and who takes what it hears: the status, the feed of readings and the core.
final class RadioPart: RadioOutput {
    private unowned let app: App<Gateway>
    private let link: any RadioLink
    private let status: ServiceStatus
    private let feed: ReadingFeedPart
    private let survey: SurveyPart

    init(
        _ app: App<Gateway>, _ link: any RadioLink, _ status: ServiceStatus, _ feed: ReadingFeedPart,
        _ survey: SurveyPart
    ) {
        (self.app, self.link, self.status, self.feed, self.survey) = (app, link, status, feed, survey)
    }

    func start() { link.start(self) }
    func stop() { link.stop() }
    func restartScan() { link.restartScan() }

    // MARK: - What it hears

    /// Takes the settings in force.
    func prepare() {
        let configuration = app.settings.configuration
        link.setDuty(configuration.duty)
        link.setBatteryMasks(configuration.batteryMasks)
        link.setIdentities(app.core.identities)
    }

    /// Regions have changed.
    func regionsChanged() {
        link.setIdentities(app.core.identities)
        nameUUIDs()
    }

    /// Regions, tags or keys have changed: a region may have either UUID of a key whose order was not known.
    func nameUUIDs() {
        link.setNamed { uuid in
            feed.tags.contains(uuid) || app.core.regionName(of: BeaconID(uuid: uuid, major: 0, minor: 0)) != nil
        }
    }

    // MARK: - Its events

    func heard(_ sighting: Sighting, at instant: MonotonicInstant) {
        if let gateway = survey.gateway(sending: sighting.beacon) {
            // It belongs to no region, even if a region's pattern fits it. The own one tells nothing.
            guard gateway != survey.ownName else { return }
            status.heard(sighting, at: instant)
            return feed.handle(.sighting(sighting), at: instant)
        }
        status.heard(sighting, at: instant)
        if feed.isOn { feed.handle(.sighting(sighting), at: instant) }
        app.handle(.sighting(sighting), at: instant)
    }

    func heard(_ telemetry: BeaconTelemetry, at instant: MonotonicInstant) {
        if feed.isOn { feed.handle(.telemetry(telemetry), at: instant) }
        app.handle(.telemetry(telemetry), at: instant)
    }

    func listening(
        _ isListening: Bool, of receiver: Receiver, duty: Double?, at instant: MonotonicInstant,
        because reason: String
    ) {
        app.log.info("\(isListening ? "listening" : "not listening"): \(reason)")
        if isListening {
            // The duty that another scanner set before holds no longer.
            let duty = duty ?? 1
            app.handle(.scanDuty(receiver, duty), at: instant)
            feed.handle(.scanDuty(receiver, duty), at: instant)
        }
        feed.handle(.listening(receiver, isListening), at: instant)
        if isListening { feed.publishAdapters() }
        app.handle(.listening(receiver, isListening), at: instant)
        app.changed()
    }

    func pausing(_ isPausing: Bool, of receiver: Receiver, at instant: MonotonicInstant) {
        app.log.debug("\(isPausing ? "pauses" : "goes on"): hci\(receiver.index)")
        feed.handle(.listening(receiver, !isPausing), at: instant)
        app.handle(.listening(receiver, !isPausing), at: instant)
    }

    func notice(_ notice: Notice) {
        guard notice.priority <= .warning else { return app.log.write(notice.priority, notice.text) }
        // A broken adapter fails again every few seconds. A number in a line, such as that of lost packets, makes no other kind.
        let kind = notice.text.split(separator: " ").filter { Int($0) == nil }.joined(separator: " ")
        app.log.once("radio: \(kind)", notice.priority, notice.text)
    }

    func sendingChanged() {
        survey.sendingChanged()
        feed.publishSurvey()
        app.changed()
    }

    func finished(at instant: MonotonicInstant) {
        app.log.notice("the recording has ended; nothing is heard from now on")
    }
}
