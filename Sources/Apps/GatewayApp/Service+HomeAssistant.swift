import Base
import Configuration
import Gateway
import GatewayEntities
import Messaging
import OwnTracks
import PageServer
import Runtime
import Shell
import StatusPage

/// Messages for Home Assistant outside OwnTracks' tree: the availability, and with discovery its entities and states.
extension Service {
    /// How often the states for Home Assistant are updated while no region changes.
    private static let homePeriod: Duration = .seconds(5)
    /// Transitions within this time are published together.
    private static let homeDelay: Duration = .milliseconds(50)

    /// Starts or stops discovery as the configuration requires.
    func prepareHomeAssistant() {
        home = nil
        guard configuration.homeAssistant.discovery else { return }
        let timer = host.timer(tolerance: .seconds(1)) { [unowned self] _ in
            updateHomeAssistant()
            home?.timer.arm(after: Self.homePeriod)
        }
        let soon = host.timer { [unowned self] _ in updateHomeAssistant() }
        home = HomeAssistantLink(feedSettings, timer: timer, soon: soon)
        timer.arm(after: Self.homePeriod)
    }

    /// The configuration has changed: the entities of Home Assistant are described again.
    func refreshHomeAssistant() {
        let isWanted = configuration.homeAssistant.discovery
        guard isWanted != (home != nil) || (isWanted && home?.settings != feedSettings) else { return homeChanged() }
        if isWanted, home?.change(to: feedSettings) == true {
            links.availability.subscribe(to: availabilityFilters)
            return updateHomeAssistant()
        }
        let wasConnected = home?.isConnected ?? links.broker.isConnected
        prepareHomeAssistant()
        links.availability.subscribe(to: availabilityFilters)
        if wasConnected { homeConnected() }
    }

    private var feedSettings: HomeAssistantFeed.Settings {
        // Requests are not encrypted: if a key is set, none is carried out.
        let isEncrypted = configuration.trackers.contains { $0.encryptionKey != .absent }
        var settings = HomeAssistantFeed.Settings(
            prefix: configuration.homeAssistant.prefix, device: configuration.trackers[0].deviceID,
            version: Program.version, pageURL: pageURL, takesCommands: configuration.obeysCommands && !isEncrypted,
            area: configuration.namedRoom)
        settings.formerDevices = formerDevices.names
        return settings
    }

    /// The address of the status page for other machines.
    private var pageURL: String? {
        guard var address = configuration.statusPage, !address.isLoopback else { return nil }
        if ["0.0.0.0", "*", "", "::"].contains(address.host) {
            address.host = Settings.hostName.prefix { $0 != "." } + ".local"
        }
        return "http://\(address)/"
    }

    // MARK: - The connection

    func handleAvailabilityEvents() {
        for event in links.availability.drainEvents() {
            app.recordRefusals(in: event, of: links.availability.settings, at: host.now)
            switch event {
            case .connected:
                readingFeed?.connected(at: host.now)
                homeConnected()
                publishAvailability("online")
                publishPhones()
            case .disconnected:
                home?.disconnected()
                readingFeed?.disconnected(at: host.now)
            case .acknowledged(let token), .refused(let token, _):
                if readingFeed?.answered(token) == true { continue }
                home?.answered(token)
                sendToHome()
            case .message(let message):
                if feedReceived(message) || phonesReceived(message) { continue }
                if let request = home?.received(message, at: host.now) {
                    guard home?.admitsRequest(at: host.now) == true else {
                        app.handle(.requestRefused(topic: message.topic), at: host.now)
                        continue
                    }
                    carryOut(request)
                    homeChanged()
                } else if home?.needsUpdate == true {
                    homeChanged()
                }
            case .moved, .decoded, .untaken, .postponed, .subscribed, .subscriptionRefused, .refusal, .admitted,
                .limited, .steppedAside, .wantsMessage, .answered:
                break
            }
        }
    }

    /// Publishes `offline` at a regular end: the broker publishes the will only after an irregular one.
    ///
    /// - Parameter waits: At the end of the service; otherwise the connection ends by itself.
    func closeAvailability(waits: Bool) {
        publishAvailability("offline")
        let patience: Duration = links.availability.isConnected ? .seconds(2) : .zero
        if waits { links.availability.close(within: patience) } else { links.availability.retire(within: patience) }
        readingFeed?.disconnected(at: host.now)
    }

    private func publishAvailability(_ state: String) {
        // The settings may name another device now.
        guard let will = links.availability.settings?.will else { return }
        _ = links.availability.publish(
            Publication(.state, topic: will.topic, payload: Array(state.utf8), isRetained: true),
            as: MessageToken(rawValue: 0))
    }

    private func homeConnected() {
        home?.connected()
        updateHomeAssistant()
    }

    /// A state changed that a user may be watching.
    func homeChanged() {
        guard home?.wantsSoon() == true else { return }
        home?.soon.arm(after: Self.homeDelay)
    }

    private func updateHomeAssistant() {
        guard home?.isConnected == true else { return }
        home?.update(snapshot(at: host.now))
        sendToHome()
        finishFormerDevices()
    }

    private func sendToHome() {
        guard home?.isConnected == true else { return }
        home?.send(by: links.availability)
    }

    private func carryOut(_ request: HomeAssistantFeed.Request) {
        let result: StatusActionResult
        switch request {
        case .restartScan: result = restartScan()
        case .reportLocation(let tracker): result = reportLocation(of: tracker)
        case .setMonitoring(let tracker, let mode): result = setMonitoring(of: tracker, to: mode)
        }
        switch result {
        case .done: log.info("Home Assistant asked: \(request)")
        case .refused(let reason): log.once("home: \(reason)", .warning, "Home Assistant asked: \(request): \(reason)")
        }
    }
}
