import AddressKeys
import Base
import Beacon
import GatewayApp
import Identities
import Runtime
import Scanning
import Shell
import System

/// Listens for some time, and reports which of the addresses that are heard fit a key, and in which order of its octets.
final class PhoneListener: ScannerOutput {
    /// What was heard under a key, in one order of its octets.
    struct Heard {
        fileprivate(set) var packets = 0
        fileprivate(set) var addresses: Set<UInt64> = []
        /// dBm
        fileprivate(set) var strongest: Int?
    }

    /// Addresses that are remembered, to limit memory.
    private static let mostAddresses = 10_000

    private let loop: EventLoop
    private let ciphers: KeyCiphers
    private var scanner: (any Scanner)?
    /// Whether each address fits, and in which order of octets.
    private var known: [DeviceAddress: Bool?] = [:]
    private let stopsAtFirst: Bool
    private var isFinished = false
    private(set) var asWritten = Heard()
    private(set) var reversed = Heard()
    /// Resolvable private addresses of all devices.
    private(set) var privateAddresses = 0
    /// Why nothing could be heard; nil: the radio listened.
    private(set) var problem: String?

    private init(_ key: IdentityKey, stopsAtFirst: Bool) throws {
        guard let ciphers = KeyCiphers([key]) else { throw Failure(.unavailable, "libcrypto offers no AES-128") }
        (self.ciphers, self.stopsAtFirst) = (ciphers, stopsAtFirst)
        loop = try EventLoop()
    }

    /// Listens with the scanner of the settings. A recording may end earlier.
    ///
    /// - Parameter stopsAtFirst: Whether one address that fits is enough.
    static func listen(
        _ settings: Settings, for key: IdentityKey, _ duration: Duration, stopsAtFirst: Bool
    ) throws -> PhoneListener {
        let listener = try PhoneListener(key, stopsAtFirst: stopsAtFirst)
        try listener.run(settings, key, until: Clocks.now().advanced(by: duration))
        return listener
    }

    private func run(_ settings: Settings, _ key: IdentityKey, until end: MonotonicInstant) throws {
        let interruption = try Interruption(loop)
        let log = Log(threshold: .error)
        do throws(ScannerError) {
            let scanner = try settings.makeScanner(host: LoopHost(loop: loop, log: log), output: self)
            self.scanner = scanner
            var resolver = IdentityResolver()
            _ = resolver.setKeys([PhoneKey(key)])
            scanner.setPatterns(resolver.patterns)
            problem = "no adapter listens"
            try scanner.start()
        } catch {
            problem = error.description
            return
        }
        try loop.step(until: end) { isFinished || interruption.signal != nil }
        scanner?.stop()
        scanner = nil
        interruption.endProgram()
    }

    /// What was heard in the order that fits more addresses.
    var best: Heard { isReversed == true ? reversed : asWritten }

    /// Whether the octets fit in reverse order to how they were written; nil: no address fits.
    var isReversed: Bool? {
        guard asWritten.packets + reversed.packets > 0 else { return nil }
        return reversed.addresses.count > asWritten.addresses.count
    }

    // MARK: ScannerOutput

    func heard(
        _ report: AdvertisingReport, data: Span<UInt8>, by receiver: Receiver, at instant: MonotonicInstant
    ) {
        guard let address = ResolvableAddress(report.address) else { return }
        let isReversed: Bool?
        if let answer = known[report.address] {
            isReversed = answer
        } else {
            guard known.count < Self.mostAddresses else { return }
            privateAddresses += 1
            isReversed = [false, true].first {
                ciphers.hash(of: address.random, key: 0, isReversed: $0) == address.hash
            }
            known[report.address] = .some(isReversed)
        }
        guard let isReversed else { return }
        var heard = isReversed ? reversed : asWritten
        heard.packets += 1
        heard.addresses.insert(report.address.value)
        heard.strongest = [heard.strongest, report.rssi.map { Int($0.dBm) }].compactMap(\.self).max()
        if isReversed { reversed = heard } else { asWritten = heard }
        if stopsAtFirst { isFinished = true }
    }

    func listening(_ isListening: Bool, of receiver: Receiver, at instant: MonotonicInstant, because reason: String) {
        if isListening { problem = nil }
    }

    func notice(_ notice: Notice) {
        if notice.priority <= .warning, problem != nil { problem = notice.text }
    }

    func finished(at instant: MonotonicInstant) { isFinished = true }
}
