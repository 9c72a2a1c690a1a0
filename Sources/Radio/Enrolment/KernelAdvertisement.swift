import Base
import KernelScanning
import Scanning

/// The advertisement of an enrolment at the kernel, for where bluetoothd refuses one. bluetoothd pairs all the same.
///
/// bluetoothd asks by Add Extended Advertising Parameters, which some kernels are reported to refuse (6.12.93 and 6.18.34 of Raspberry Pi
/// OS), and not by Add Advertising.
final class KernelAdvertisement {
    /// For the kernel and the controller to answer.
    private static let timeout = Duration.seconds(10)
    /// Longer than an enrolment, in seconds. Afterwards the kernel ends the advertisement, also when the program was killed.
    private static let lifetime: UInt16 = 240

    private let index: UInt16
    private let host: any EventHost
    private let channel: any ManagementChannel
    private let commands: CommandQueue
    private var timer: (any EventRegistration)?
    /// The number of the advertisement, once it may be on the air.
    private var instance: UInt8?
    private var isOver = false
    private var begun: ((String?) -> Void)?
    private var ended: ((String?) -> Void)?
    /// Somebody else has removed the advertisement.
    var onLost: (() -> Void)?

    init(_ index: UInt16, host: any EventHost, channel: any ManagementChannel) {
        (self.index, self.host, self.channel, commands) = (index, host, channel, CommandQueue(channel))
        channel.onMessage = { [weak self] message, _ in self?.receive(message) }
        channel.onFailure = { [weak self] reason in self?.finish("the management socket failed: \(reason)") }
        channel.open()
    }

    /// Advertises.
    ///
    /// - Parameters:
    ///   - record: Keeps the number on the disk, before the kernel is told of it. It says whether to go on.
    ///   - done: Gets the reason if it is refused, else nil.
    func begin(
        _ appearance: EnrolmentAppearance, record: @escaping (UInt8) -> Bool, done: @escaping (String?) -> Void
    ) {
        begun = done
        wait()
        commands.ask(.readAdvertisingFeatures(index)) { [weak self] status, result in
            guard let self, !isOver else { return }
            guard status == ManagementStatus.success else {
                return answer(ManagementStatus.refusal(of: .readAdvertisingFeatures, status))
            }
            // The lowest: Linux 6.1 does not list numbers above the count of advertisements.
            guard let free = AdvertisingFeatures(result)?.free.first else {
                return answer("hci\(index) cannot advertise, or has no room for another advertisement")
            }
            guard record(free) else { return }
            instance = free
            let command = ManagementCommand.advertise(index, instance: free, appearance, seconds: Self.lifetime)
            commands.ask(command) { [weak self] status, _ in
                guard let self else { return }
                answer(status == ManagementStatus.success ? nil : ManagementStatus.refusal(of: .addAdvertising, status))
            }
        }
    }

    /// Ends the advertisement of an earlier enrolment.
    func remove(_ instance: UInt8, _ done: @escaping (String?) -> Void) {
        self.instance = instance
        end(done)
    }

    /// Ends the advertisement, if it was begun, and closes the channel.
    ///
    /// - Parameter done: Gets the reason if it may still be on the air, else nil.
    func end(_ done: @escaping (String?) -> Void) {
        guard !isOver else { return done(nil) }
        isOver = true
        begun = nil
        ended = done
        guard let instance else { return finish(nil) }
        wait()
        // It waits in the queue for the answer to an advertisement that is asked for.
        commands.ask(.removeAdvertising(index, instance: instance)) { [weak self] status, _ in
            // Invalid parameters: there is none, or none any more. Invalid index: the adapter was unplugged.
            let isGone = [
                ManagementStatus.success, ManagementStatus.invalidParameters, ManagementStatus.invalidIndex,
            ].contains(status)
            self?.finish(isGone ? nil : "the advertisement: \(ManagementStatus.name(status))")
        }
    }

    private func wait() {
        timer?.cancel()
        timer = host.at(host.now.advanced(by: Self.timeout)) { [weak self] in self?.finish("the kernel does not answer")
        }
    }

    /// What was asked for last is answered.
    private func answer(_ reason: String?) {
        timer?.cancel()
        let answered = begun
        begun = nil
        answered?(reason)
    }

    private func finish(_ reason: String?) {
        // Who learns that it failed ends it at once, which takes its own time.
        guard isOver else { return answer(reason) }
        timer?.cancel()
        channel.close()
        let done = ended
        ended = nil
        done?(reason.map { "hci\(index): \($0)" })
    }

    private func receive(_ message: Span<UInt8>) {
        guard let header = ManagementHeader(message) else { return }
        let parameters = message.extracting(ManagementHeader.length...)
        switch header.code {
        case ManagementEvent.Code.commandComplete, ManagementEvent.Code.commandStatus:
            guard parameters.count >= 3 else { return }
            let result = (3..<parameters.count).map { parameters[$0] }
            commands.answered(UInt16(parameters[0]) | UInt16(parameters[1]) << 8, status: parameters[2], result)
        case ManagementEvent.Code.advertisingRemoved where header.index == index && parameters.count >= 1:
            if !isOver, begun == nil, parameters[0] == instance { onLost?() }
        default: break
        }
    }
}
