import Advertising
import Configuration
import Glibc
import KernelScanning
package import PageServer
package import Runtime
import Scanning
package import Shell
package import System

/// The service as a separate process: the event loop, the real links, and signals.
package enum ServiceProcess {
    /// Runs until a signal ends it.
    ///
    /// - Parameter offer: What the page answers to who adds another gateway.
    package static func run(
        _ settings: Settings, offer: @escaping GatewayOffer, log: Log
    ) throws -> ExitCode {
        let loop = try EventLoop()
        loop.onSlowTurn = { log.slowTurn($0, "; the radio had to wait for it") }
        let host = try EventLoopHost(loop: loop, log: log)
        let radioHost = LoopHost(loop: loop, log: log)
        let scannerName = settings.configuration.scanner.name
        // A recording has no adapter that could be tapped.
        let makeTap: ScannerLink.TapFactory? =
            scannerName == "capture" ? nil : { PacketTap(host: radioHost, output: $0) }
        let selection = settings.configuration.adapterSelection
        let makeSender: ScannerLink.SenderFactory? =
            scannerName == "capture"
            ? nil
            : { pauseScan in
                BeaconSender(selection, host: radioHost, pauseScan: pauseScan) { () throws(ScannerError) in
                    try ManagementSocket.withoutPackets(host: radioHost)
                }
            }
        let radio = ScannerLink(
            scannerName: scannerName, host: radioHost, makeTap: makeTap, makeSender: makeSender
        ) { (output) throws(ScannerError) in
            try settings.makeScanner(host: radioHost, output: output)
        }
        let brokers = BrokerLinkPair(
            first: BrokerLinkByMode(mqtt: ThreadedBrokerLink(loop: loop), http: HTTPLink(loop: loop)),
            second: ThreadedBrokerLink(loop: loop)
        ) { action in
            let watch = try loop.waker(action)
            return { watch.waker.wake() }
        }
        let links = ServiceLinks(
            radio: radio, store: ThreadedStoreLink(loop: loop, log: log),
            broker: brokers.first, availability: brokers.second,
            status: StatusServerLink(loop: loop, log: log, host: host),
            phoneKeys: ThreadedPhoneKeyLink(loop: loop),
            proxies: .machine(loop, host: radioHost, isRecorded: scannerName == "capture"))
        // Signals must be blocked before another thread starts.
        var watches: [AnyObject] = []
        let service = Service(settings: settings, links: links, host: host, log: log)
        service.offer = offer
        for signal in [SIGTERM, SIGINT] { watches.append(try loop.onSignal(signal) { service.app.stop() }) }
        watches.append(try loop.onSignal(SIGHUP) { service.app.reload() })
        watches.append(try WallClockWatch(loop: loop) { service.app.readClock() })
        try service.start()
        let code = try loop.run()
        return withExtendedLifetime(watches) { ExitCode(rawValue: code) ?? .software }
    }
}
