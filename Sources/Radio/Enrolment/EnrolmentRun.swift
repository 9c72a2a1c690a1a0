import AddressKeys
import Base
import Beacon
import Identities
import KernelScanning
import Scanning

/// What both back ends of an enrolment share: the course with its time, the record on the disk, and what the owner is told.
final class EnrolmentRun {
    private let host: any EventHost
    private let onEvent: (EnrolmentEvent) -> Void
    private var timer: (any EventRegistration)?
    let storage: any EnrolmentStorage
    weak var backend: (any PairingBackend)?
    private(set) var course: EnrolmentCourse
    var record = EnrolmentRecord()
    /// What of an earlier record is not undone yet, or only another back end or adapter can undo. It stays on the disk.
    var kept = EnrolmentRecord()

    /// - Parameters:
    ///   - partner: Who pairs, for messages: bluetoothd or the kernel.
    ///   - onEvent: Called on the loop's thread.
    init(
        with partner: String, host: any EventHost, storage: any EnrolmentStorage,
        onEvent: @escaping (EnrolmentEvent) -> Void
    ) {
        (self.host, self.storage, self.onEvent) = (host, storage, onEvent)
        course = EnrolmentCourse(at: host.now, with: partner)
    }

    func start() {
        record = storage.readRecord()
        kept = record
        arm()
    }

    /// Ends it because what an earlier enrolment left is still there.
    func leftoverStays(_ reason: String) {
        handle(.failed("the pairing that an interrupted enrolment left cannot be removed: \(reason)"))
    }

    func say(_ progress: EnrolmentProgress) { onEvent(.progress(progress)) }

    func handle(_ input: EnrolmentCourse.Input) {
        for effect in course.handle(input, at: host.now) { carryOut(effect) }
        arm()
    }

    /// Ends it before anything was begun.
    func giveUp(_ event: EnrolmentEvent) {
        timer?.cancel()
        onEvent(event)
    }

    func save() {
        if let reason = storage.write(record) { handle(.failed(reason)) }
    }

    private func arm() {
        timer?.cancel()
        timer = course.nextDeadline.map { deadline in host.at(deadline) { [weak self] in self?.handle(.tick) } }
    }

    private func carryOut(_ effect: EnrolmentCourse.Effect) {
        switch effect {
        case .say(let progress): say(progress)
        case .record(let device):
            record.devices.append(device)
            save()
        case .pair(let device): backend?.pair(device)
        case .readKey(let device):
            let key = backend?.key(of: device)
            let resolves = course.address(of: device).flatMap { address in key.flatMap { Self.resolves($0, address) } }
            handle(.key(key, resolves: resolves))
        case .withdraw: backend?.withdraw()
        case .remove(let device):
            backend?.remove(device) { [weak self] in self?.handle(.removed(device, failure: $0)) }
        case .end(let outcome, let left):
            backend?.finish { [weak self] in self?.end(outcome, left: left + $0) }
        }
    }

    private func end(_ outcome: EnrolmentOutcome, left: [String]) {
        if left.isEmpty {
            record = kept
            save()
        }
        timer?.cancel()
        onEvent(.ended(outcome, left: left))
    }

    /// Whether the key resolves the address; nil if it is no resolvable address, or libcrypto offers no AES-128.
    static func resolves(_ key: IdentityKey, _ address: DeviceAddress) -> Bool? {
        guard let address = ResolvableAddress(address), let ciphers = KeyCiphers([key]) else { return nil }
        return ciphers.hash(of: address.random, key: 0, isReversed: false) == address.hash
    }
}
