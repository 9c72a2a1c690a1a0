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

    func show() throws {
        if needsRoomsService {
            // A second `setup` would refuse to replace the file that this one has written.
            Terminal.print(
                "One rooms service decides on the tags. To run it on this machine: "
                    + "sudo systemctl enable --now ibeacon-gateway-rooms")
        }
        let running = RunningService(of: settings.stateDirectory)
        var findings = ServiceCheck.findings(settings) + ServiceCheck.running(settings, running)
        findings += try RadioCheck.findings(settings, listening: .seconds(3))
        for finding in findings { for line in finding.lines { Terminal.print(line) } }
        let configuration = settings.configuration
        let topics = configuration.trackers.map(\.topics.base)
        for topic in topics { Terminal.print("Who comes and goes is published on \(topic)/event.") }
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
