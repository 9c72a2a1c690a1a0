import Configuration
import OwnTracks
import PageServer
import Shell
import System

/// What `setup` shows at its end: what `doctor` says about the service and the radio, and where to look.
struct SetupConclusion {
    let settings: Settings
    /// Whether a rooms service is needed that setup has not started.
    let needsRoomsService: Bool
    /// Whether these are the files of the service, which only root and the service may read.
    let isForService: Bool
    /// Whether the service was started with these settings.
    let isStarted: Bool

    /// The longest time in which the broker admits the service. Its name is looked up, and TLS takes its time.
    private static let patience: Duration = .seconds(15)

    func show() throws {
        if needsRoomsService {
            // A second `setup` would refuse to replace the file that this one has written.
            Terminal.print(
                "One rooms service decides on the tags. To run it on this machine: "
                    + "sudo systemctl enable --now ibeacon-gateway-rooms")
        }
        let running = RunningService.settled(within: isStarted ? Self.patience : .zero) {
            RunningService(of: settings.stateDirectory)
        }
        var findings = ServiceCheck.findings(settings) + ServiceCheck.running(settings, running)
        findings += try RadioCheck.findings(settings, listening: .seconds(3))
        for finding in findings { for line in finding.lines { Terminal.print(line) } }
        let configuration = settings.configuration
        let topics = configuration.trackers.map(\.topics.base)
        for topic in topics { Terminal.print(publication(on: topic, isConnected: running?.isConnected == true)) }
        if let line = Self.pageLine(configuration.statusPage, running) { Terminal.print(line) }
        if !configuration.broker.isOffline {
            let line = SubscribeLine(
                broker: configuration.broker, topic: "\(topics[0])/#", needsRoot: isForService)
            Terminal.print("See it:      \(line.text)")
        }
        if let path = configuration.bluetoothProxy?.key.path {
            Terminal.print("Home Assistant finds the Bluetooth proxy and asks for its key: sudo cat \(path)")
        }
        Terminal.print("Who is near: sudo ibeacon-gateway scan")
        Terminal.print("If it fails: sudo ibeacon-gateway doctor")
    }

    /// Where a tracker's events go. Only what is connected publishes.
    ///
    /// - Parameters:
    ///   - base: The base topic of the tracker.
    ///   - isConnected: Whether the running service is connected to the broker.
    func publication(on base: String, isConnected: Bool) -> String {
        guard !settings.configuration.broker.isOffline else {
            return "Nothing is published (port 0); who comes and goes is shown by: sudo ibeacon-gateway history"
        }
        guard !(isStarted && isConnected) else { return "Who comes and goes is published on \(base)/event." }
        let condition = isStarted ? "is connected" : "runs with these settings"
        return "Who comes and goes will be published on \(base)/event, once the service \(condition)."
    }

    /// How to open the page.
    ///
    /// - Parameter running: The service; nil: none answers, because it is started later.
    /// - Returns: nil if no page is configured, or the running service does not serve it; then a finding has said why.
    static func pageLine(_ address: ListenAddress?, _ running: RunningService?) -> String? {
        guard let address, running?.servesPage != false else { return nil }
        return address.isLoopback
            ? "Its page:    http://\(address)/" : "Its page:    sudo ibeacon-gateway status --link"
    }
}
