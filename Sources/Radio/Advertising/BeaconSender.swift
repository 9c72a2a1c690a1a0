package import Base
package import Beacon
package import KernelScanning
package import Scanning
import System

/// Sends a beacon through the kernel's management interface: carries out what `BeaconAdvertisement` decides, and tells it what the kernel
/// says.
///
/// It has a socket of its own, so that it works beside any scanner. Without a beacon there is no socket, and nothing is sent.
package final class BeaconSender {
    private static let retryPeriod = Duration.seconds(60)

    private let selection: AdapterSelection
    private let host: any EventHost
    private let openManagement: ManagementOpener
    private let pauseScan: (UInt16, Bool) -> Void
    private var advertisement = BeaconAdvertisement()
    private var wanted: BeaconID?
    private var channel: (any ManagementChannel)?
    private var timer: (any EventRegistration)?
    private var toldState = SendingState.off
    private var toldPlaces: [AdvertisementPlace] = []
    /// The socket cannot be opened, or has failed.
    private var failure: ScanProblem?
    /// What was on the air when the socket failed.
    private var lost: [AdvertisementPlace] = []
    /// Called when `state` or `places` have changed.
    package var onChange: () -> Void = {}

    /// - Parameters:
    ///   - pauseScan: Pauses the scan of an adapter, or lets it go on. A scan goes on by itself soon.
    ///   - openManagement: Opens a socket that tells of no packets.
    package init(
        _ selection: AdapterSelection, host: any EventHost, pauseScan: @escaping (UInt16, Bool) -> Void,
        openManagement: @escaping ManagementOpener
    ) {
        (self.selection, self.host, self.pauseScan, self.openManagement) = (selection, host, pauseScan, openManagement)
    }

    deinit { timer?.cancel() }

    package var state: SendingState { failure.map { .refused($0) } ?? advertisement.state }
    /// What would be left on the air if the program was killed now.
    package var places: [AdvertisementPlace] { advertisement.places + lost }

    /// - Parameter beacon: nil: none is sent any longer.
    package func send(_ beacon: BeaconID?) {
        guard beacon != wanted else { return }
        wanted = beacon
        if beacon != nil { open() } else { failure = nil }
        carryOut(advertisement.want(beacon, at: host.now))
    }

    /// Removes what an earlier run of the program has left on the air.
    package func remove(_ places: [AdvertisementPlace]) {
        guard !places.isEmpty else { return }
        toldPlaces = places
        open()
        carryOut(advertisement.found(places, at: host.now))
    }

    /// The program ends.
    package func stop() {
        wanted = nil
        carryOut(advertisement.end())
    }

    // MARK: The socket

    private func open() {
        guard channel == nil else { return }
        do throws(ScannerError) {
            let channel = try openManagement()
            channel.onMessage = { [weak self] message, now in self?.receive(message, at: now) }
            channel.onFailure = { [weak self] in self?.fail("the management socket failed: \($0)") }
            channel.open()
            self.channel = channel
            failure = nil
            give(.readIndexList)
            let left = lost
            lost = []
            if !left.isEmpty { carryOut(advertisement.found(left, at: host.now)) }
        } catch {
            fail("\(error)")
        }
    }

    private func fail(_ reason: String) {
        close()
        failure = ScanProblem(
            "the kernel cannot be asked to send it: \(reason)", remedy: "it is tried again every minute")
        lost = places
        advertisement = BeaconAdvertisement()
        timer?.cancel()
        timer = host.at(host.now.advanced(by: Self.retryPeriod)) { [weak self] in
            guard let self, let wanted else { return }
            open()
            carryOut(advertisement.want(wanted, at: host.now))
        }
        tell()
    }

    private func close() {
        channel?.close()
        channel = nil
    }

    private func give(_ command: ManagementCommand) {
        do throws(SystemError) { try channel?.send(command) } catch { fail("\(command.opcode): \(error.message)") }
    }

    // MARK: What is decided

    private func carryOut(_ effects: [AdvertisingEffect]) {
        for effect in effects {
            switch effect {
            case .send(let command): give(command)
            case .pauseScan(let index, let isPaused): pauseScan(index, isPaused)
            }
        }
        if advertisement.isAtRest { close() }
        schedule()
        tell()
    }

    private func schedule() {
        guard failure == nil else { return }
        timer?.cancel()
        timer = advertisement.nextDeadline.map { due in
            host.at(due) { [weak self] in
                guard let self else { return }
                carryOut(advertisement.tick(at: host.now))
            }
        }
    }

    private func tell() {
        guard state != toldState || places != toldPlaces else { return }
        (toldState, toldPlaces) = (state, places)
        onChange()
    }

    // MARK: What the kernel says

    private func receive(_ message: Span<UInt8>, at now: MonotonicInstant) {
        guard let header = ManagementHeader(message) else { return }
        let parameters = message.extracting(ManagementHeader.length...)
        switch header.code {
        case ManagementEvent.Code.advertisingRemoved where parameters.count >= 1:
            carryOut(advertisement.removed(header.index, instance: parameters[0], at: now))
        case ManagementEvent.Code.commandComplete, ManagementEvent.Code.commandStatus:
            answered(header.index, parameters, at: now)
        default:
            guard let event = ManagementEvent(code: header.code, parameters: parameters) else { return }
            handle(event, index: header.index, at: now)
        }
    }

    private func handle(_ event: ManagementEvent, index: UInt16, at now: MonotonicInstant) {
        switch event {
        case .indexList(let indexes): for index in indexes { give(.readControllerInformation(index)) }
        case .indexAdded: give(.readControllerInformation(index))
        case .indexRemoved: carryOut(advertisement.adapterGone(index, at: now))
        case .newSettings(let settings): carryOut(advertisement.settings(settings, of: index, at: now))
        case .controllerInformation(let facts):
            guard facts.supported.contains(.lowEnergy), selection.includes(index: index, address: facts.address) else {
                return
            }
            carryOut(advertisement.adapter(index, facts.address, facts.current, at: now))
        default: break
        }
    }

    private func answered(_ index: UInt16, _ parameters: Span<UInt8>, at now: MonotonicInstant) {
        guard parameters.count >= 3 else { return }
        let opcode = ManagementCommand.Opcode(rawValue: UInt16(parameters[0]) | UInt16(parameters[1]) << 8)
        switch opcode {
        case .readIndexList, .readControllerInformation:
            guard
                let event = ManagementEvent(code: ManagementEvent.Code.commandComplete, parameters: parameters)
            else { return }
            handle(event, index: index, at: now)
        case let opcode?:
            let result = (3..<parameters.count).map { parameters[$0] }
            carryOut(
                advertisement.answered(opcode, by: index, status: parameters[2], result, at: now))
        case nil: break
        }
    }
}
