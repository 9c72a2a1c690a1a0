import AddressKeys
package import Advertising
package import Base
package import Beacon
package import Identities
package import KernelScanning
package import Scanning

/// The radio link over a scanner.
package final class ScannerLink: RadioLink, ScannerOutput {
    package typealias Factory = (any ScannerOutput) throws(ScannerError) -> any Scanner
    package typealias TapFactory = (@escaping PacketTap.Output) -> PacketTap
    /// Makes what sends a beacon. It gets what pauses the scan of an adapter, or lets it go on.
    package typealias SenderFactory = (_ pauseScan: @escaping (UInt16, Bool) -> Void) -> BeaconSender

    private static let retryInterval = Duration.seconds(5)
    /// How often the tap follows the adapters.
    private static let tapInterval = Duration.seconds(1)

    private let host: any EventHost
    private let makeScanner: Factory
    private let configuredName: String
    private var scanner: (any Scanner)?
    private var duty = ScanDuty.full
    private var decoder = BeaconDecoder()
    private var resolver = IdentityResolver()
    private weak var output: (any RadioOutput)?
    /// The next attempt to start, or the next look at the scanner.
    private var retry: (any EventRegistration)?
    /// Who takes every packet.
    private var packets: PacketOutput?
    private let makeTap: TapFactory?
    /// Made for the first who takes every packet. It remembers what was lost.
    private var tap: PacketTap?
    private let makeSender: SenderFactory?
    /// Made for the first beacon that is to be sent.
    private var sender: BeaconSender?
    /// The beacon that is to be sent.
    private var sent: BeaconID?
    private var offersActiveScan = false
    private var tapTimer: (any EventRegistration)?
    /// Whether a packet is looked at beyond an iBeacon and telemetry: one flag, so that a tap that is off costs nothing.
    private var looksFurther = false
    /// Why the scanner does not start, as last reported.
    private var saidFailure: ScannerError?

    /// - Parameters:
    ///   - scannerName: The scanner's name in the configuration.
    ///   - host: Keeps the time of the next attempt if the scanner does not start.
    ///   - makeTap: Makes what reads every packet of the adapters; nil: the scanner's packets are all there are.
    ///   - makeSender: nil: nothing can be sent, because there is a recording in place of a radio.
    ///   - makeScanner: Makes a scanner that is not started yet.
    package init(
        scannerName: String, host: any EventHost, makeTap: TapFactory? = nil, makeSender: SenderFactory? = nil,
        _ makeScanner: @escaping Factory
    ) {
        self.host = host
        (self.makeTap, self.makeSender) = (makeTap, makeSender)
        configuredName = scannerName
        self.makeScanner = makeScanner
    }

    package var scannerName: String {
        guard let auto = scanner as? AutoScanner else { return configuredName }
        return auto.chosen ?? "none"
    }

    package var adapters: [AdapterStatus] { scanner?.adapters ?? [] }
    package var problem: ScanProblem? {
        guard let saidFailure else { return scanner?.problem }
        let remedy = saidFailure.kind == .badInput ? "name another one in \"scanner\"" : "it is tried again"
        return ScanProblem("cannot scan: \(saidFailure)", remedy: remedy)
    }
    package var malformed: MalformedCounters { decoder.malformed }

    package func start(_ output: any RadioOutput) {
        self.output = output
        saidFailure = nil
        tryToStart()
    }

    private func tryToStart() {
        do throws(ScannerError) {
            let scanner = try makeScanner(self)
            self.scanner = scanner
            scanner.setDuty(duty)
            scanner.setPatterns(resolver.patterns)
            scanner.setWantsAll(packets != nil)
            scanner.setOffersActiveScan(offersActiveScan)
            try scanner.start()
            saidFailure = nil
            lookAfterScanner()
        } catch {
            if error != saidFailure { output?.notice(Notice(.error, "cannot scan: \(error)")) }
            saidFailure = error
            // D-Bus or the kernel's Bluetooth may come later. A recording that cannot be read stays so.
            guard error.kind != .badInput else { return }
            retry = host.at(host.now.advanced(by: Self.retryInterval)) { [weak self] in self?.tryToStart() }
        }
    }

    /// A scanner whose interface has failed is replaced. `AutoScanner` does so with its own.
    private func lookAfterScanner() {
        guard scanner is any FallibleScanner else { return }
        retry = host.at(host.now.advanced(by: Self.retryInterval)) { [weak self] in
            guard let self else { return }
            if (scanner as? any FallibleScanner)?.hasDied == true { restartScan() } else { lookAfterScanner() }
        }
    }

    package func stop() {
        stopScanning()
        sender?.stop()
    }

    private func stopScanning() {
        retry?.cancel()
        retry = nil
        scanner?.stop()
    }

    package func restartScan() {
        stopScanning()
        saidFailure = nil
        tryToStart()
    }

    package func setBatteryMasks(_ masks: BatteryMasks) { decoder.masks = masks }

    package func setIdentities(_ identities: [Identity]) {
        resolver.setIdentities(identities)
        updateReach()
        scanner?.setPatterns(resolver.patterns)
    }

    package func setKeys(_ keys: [PhoneKey]) {
        guard resolver.setKeys(keys) else {
            output?.notice(Notice(.error, "phones are not heard: libcrypto offers no AES-128"))
            return
        }
        updateReach()
        scanner?.setPatterns(resolver.patterns)
    }

    package func setNamed(_ isNamed: (BeaconUUID) -> Bool) { resolver.setNamed(isNamed) }

    package func setTap(_ output: PacketOutput?) {
        packets = output
        if tap == nil, output != nil {
            tap = makeTap? { [weak self] report, data, receiver in self?.packets?(report, data, receiver) }
        }
        scanner?.setWantsAll(output != nil)
        updateReach()
        followAdapters()
    }

    package func packetsLost(by receiver: Receiver) -> UInt64 { tap?.lost[receiver] ?? 0 }

    package func setOffersActiveScan(_ offers: Bool) {
        offersActiveScan = offers
        scanner?.setOffersActiveScan(offers)
    }

    package func scanActively(_ isWanted: Bool, by receiver: Receiver) {
        scanner?.scanActively(isWanted, by: receiver)
    }

    // MARK: - Sending

    package var sending: SendingState {
        guard makeSender == nil else { return sender?.state ?? .off }
        guard sent != nil else { return .off }
        return .refused(
            ScanProblem(
                "a recording takes the place of the radio, and sends nothing", remedy: "use another \"scanner\""))
    }

    package var advertisements: [AdvertisementPlace] { sender?.places ?? [] }

    package func send(_ beacon: BeaconID?) {
        guard beacon != sent else { return }
        sent = beacon
        if beacon != nil { needSender() }
        sender?.send(beacon)
        if makeSender == nil { output?.sendingChanged() }
    }

    package func remove(_ advertisements: [AdvertisementPlace]) {
        guard !advertisements.isEmpty else { return }
        needSender()
        sender?.remove(advertisements)
    }

    private func needSender() {
        guard sender == nil, let makeSender else { return }
        let made = makeSender { [weak self] index, isPaused in
            self?.scanner?.pauseScan(isPaused, by: Receiver(index: index))
        }
        made.onChange = { [weak self] in self?.output?.sendingChanged() }
        sender = made
    }

    private func updateReach() { looksFurther = resolver.isOn || packets != nil }

    /// Adapters come and go.
    private func followAdapters() {
        tapTimer?.cancel()
        tapTimer = nil
        guard let tap else { return }
        guard packets != nil else { return tap.listen(to: []) }
        tap.listen(to: adapters.map(\.receiver))
        tapTimer = host.at(host.now.advanced(by: Self.tapInterval)) { [weak self] in self?.followAdapters() }
    }

    package var phones: [PhoneHearing] { resolver.hearings }

    package func setDuty(_ duty: ScanDuty) {
        self.duty = duty
        scanner?.setDuty(duty)
    }

    // MARK: - Events of the scanner

    package func heard(
        _ report: AdvertisingReport, data: Span<UInt8>, by receiver: Receiver, at instant: MonotonicInstant
    ) {
        let sighting = decoder.sighting(in: data, of: report, by: receiver, at: instant) { telemetry in
            output?.heard(telemetry, at: instant)
        }
        if let sighting { output?.heard(sighting, at: instant) }
        guard looksFurther else { return }
        if let packets, tap?.hears(receiver) != true { packets(report, data, receiver) }
        guard resolver.isOn else { return }
        // Each call of the resolver is over before the output hears of it, because the output may set other identities.
        let sender = resolver.sender(of: report, data: data, by: receiver, at: instant)
        let alias = sender.flatMap { resolver.alias(of: $0) }
        if let sender { output?.heard(sender, at: instant) }
        if let alias { output?.heard(alias, at: instant) }
        let frame = resolver.frame(in: data, of: report, by: receiver)
        let space = frame.flatMap { resolver.alias(of: $0) }
        if let frame { output?.heard(frame, at: instant) }
        if let space { output?.heard(space, at: instant) }
        // An array, because the output may set other identities.
        var readings: [BeaconTelemetry] = []
        resolver.telemetry(in: data, of: report, by: receiver, sender: sender, frame: frame, at: instant) {
            readings.append($0)
        }
        for reading in readings { output?.heard(reading, at: instant) }
    }

    package func listening(
        _ isListening: Bool, of receiver: Receiver, at instant: MonotonicInstant, because reason: String
    ) {
        let duty = adapters.first { $0.receiver == receiver }?.duty
        output?.listening(isListening, of: receiver, duty: duty, at: instant, because: reason)
    }

    package func pausing(_ isPausing: Bool, of receiver: Receiver, at instant: MonotonicInstant) {
        output?.pausing(isPausing, of: receiver, at: instant)
    }

    package func notice(_ notice: Notice) { output?.notice(notice) }
    package func finished(at instant: MonotonicInstant) { output?.finished(at: instant) }
}
