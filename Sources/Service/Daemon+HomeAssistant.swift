import Beacon
import Configuration
import Gateway
import HomeAssistant
import Messaging
import OwnTracks
import Runtime
import StatusPage
import System

extension Daemon {
    /// How often Home Assistant's picture is brought up to date when nobody comes or goes.
    private static let homePeriod: Duration = .seconds(5)
    /// Transitions within it are told together.
    private static let homeDelay: Duration = .milliseconds(50)

    /// Puts the configuration's wish for discovery in force on a connection that is to be started.
    func prepareHomeAssistant() {
        desk.isWatched = settings.configuration.statusPage != nil || settings.configuration.homeAssistant.discovery
        home = nil
        guard settings.configuration.homeAssistant.discovery else { return }
        do throws(SystemError) {
            let timer = try loop.timer(tolerance: .seconds(1)) { [unowned self] _ in beatHomeAssistant() }
            let soon = try loop.timer { [unowned self] _ in updateHomeAssistant() }
            let link = HomeAssistantLink(feedSettings, timer: timer, soon: soon)
            availability?.subscribe(to: link.subscriptions)
            home = link
            try timer.arm(after: Self.homePeriod)
        } catch {
            log.error("cannot set a timer: \(error)")
        }
    }

    /// The configuration is another: what Home Assistant knows is described anew.
    func refreshHomeAssistant() {
        let isWanted = settings.configuration.homeAssistant.discovery
        guard isWanted != (home != nil) || (isWanted && home?.settings != feedSettings) else { return homeChanged() }
        let wasConnected = home?.isConnected ?? isBrokerConnected
        prepareHomeAssistant()
        if wasConnected { homeConnected() }
    }

    private var feedSettings: HomeAssistantFeed.Settings {
        let configuration = settings.configuration
        // What is asked for comes in the clear: with a key set, nothing that does is obeyed.
        let isEncrypted = configuration.trackers.contains { $0.encryptionKey != nil }
        return HomeAssistantFeed.Settings(
            prefix: configuration.homeAssistant.prefix, device: configuration.trackers[0].deviceID,
            version: Program.version, pageURL: pageURL, takesCommands: configuration.obeysCommands && !isEncrypted)
    }

    /// Where another machine finds the status page.
    private var pageURL: String? {
        guard var address = settings.configuration.statusPage, !address.isLoopback else { return nil }
        if ["0.0.0.0", "*", "", "::"].contains(address.host) {
            address.host = Settings.hostName.prefix { $0 != "." } + ".local"
        }
        return "http://\(address)/"
    }

    func homeConnected() {
        home?.connected()
        updateHomeAssistant()
    }

    /// Takes what happened on the connection that holds the availability.
    func noteHome(_ event: BrokerEvent) {
        switch event {
        case .disconnected: home?.disconnected()
        case .acknowledged(let token), .refused(let token, _):
            home?.answered(token)
            sendToHome()
        case .subscriptionRefused(let filter):
            log.once("home", .warning, "the broker will not let us hear \(filter); Home Assistant may miss changes")
        case .message(let message):
            if let request = home?.received(message) { obey(request) }
            homeChanged()
        case .connected, .commands: break
        }
    }

    /// Something changed that somebody may be looking at.
    func homeChanged() {
        guard home?.wantsSoon() == true else { return }
        do throws(SystemError) {
            try home?.soon.arm(after: Self.homeDelay)
        } catch {
            log.error("cannot set a timer: \(error)")
        }
    }

    private func beatHomeAssistant() {
        updateHomeAssistant()
        do throws(SystemError) {
            try home?.timer.arm(after: Self.homePeriod)
        } catch {
            log.error("cannot set a timer: \(error)")
        }
    }

    private func updateHomeAssistant() {
        guard home?.isConnected == true else { return }
        home?.update(desk.snapshot(of: self, at: Clocks.now()))
        sendToHome()
    }

    private func sendToHome() {
        guard let availability, home?.isConnected == true else { return }
        home?.send(by: availability)
    }

    private func obey(_ request: HomeAssistantFeed.Request) {
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

    private func setMonitoring(of tracker: Int, to number: Int) -> StatusActionResult {
        guard gateway.trackers.indices.contains(tracker), let mode = MonitoringMode(rawValue: number) else {
            return .refused("there is no such tracker or mode")
        }
        take(.request(.setMonitoring(tracker: tracker, mode)), at: Clocks.now())
        return .done
    }
}
