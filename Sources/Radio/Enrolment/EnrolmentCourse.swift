package import Base
package import Beacon
package import Identities

/// The course of one enrolment of a phone: what happens to it, and what is to be done. It knows no bus, no file and no clock.
///
/// The first device that pairs is the one that is enrolled. Nothing of it stays on this machine but the key: its bond is
/// removed before the course ends, however the course ends.
package struct EnrolmentCourse: Sendable {
    /// The whole enrolment.
    package static let duration = Duration.seconds(180)
    /// A phone that is about to pair by itself gets this long before it is asked to.
    package static let patience = Duration.seconds(1)
    /// The key is stored when bluetoothd says that the device is paired; this is for a slow disk.
    package static let keyTimeout = Duration.seconds(5)
    package static let keyInterval = Duration.milliseconds(500)
    package static let removalTimeout = Duration.seconds(10)
    /// Devices that are remembered, so that a flood of them costs little.
    package static let mostCandidates = 16

    package enum State: Hashable, Sendable {
        /// What an earlier enrolment left is removed, and the advertisement is registered.
        case preparing
        /// The advertisement is on the air.
        case open
        /// This device is paired, and its key is read.
        case reading(device: String, until: MonotonicInstant, next: MonotonicInstant)
        /// Nothing is advertised, and these devices are removed.
        case removing(devices: [String], EnrolmentOutcome, until: MonotonicInstant)
        case ended
    }

    package enum Input: Hashable, Sendable {
        /// The advertisement is on the air.
        case advertised
        /// A device has connected to this machine.
        ///
        /// - Parameter isIncoming: Whether that is certain. If not, the device is not asked to pair.
        case connected(String, DeviceAddress, isIncoming: Bool)
        case disconnected(String)
        /// The phone, or its owner, does not want to pair.
        case refused(String, reason: String)
        case paired(String)
        /// The answer to `readKey`: nil if there is none.
        ///
        /// - Parameter resolves: Whether the key resolves the address under which the device connected; nil if that is no
        ///   resolvable address.
        case key(IdentityKey?, resolves: Bool?)
        /// The answer to `remove`: why the device was not removed, or nil.
        case removed(String, failure: String?)
        /// The enrolment cannot go on.
        case failed(String)
        case interrupted
        /// Time has passed.
        case tick
    }

    package enum Effect: Hashable, Sendable {
        case say(EnrolmentProgress)
        /// Before anything is stored of it, so that a killed program's successor finds the device.
        case record(String)
        /// Asks the phone to pair.
        case pair(String)
        case readKey(String)
        /// Ends the advertisement, the service and the agent.
        case withdraw
        /// Disconnects the device and removes its bond.
        case remove(String)
        /// The last effect.
        ///
        /// - Parameter left: Why devices could not be removed.
        case end(EnrolmentOutcome, left: [String])
    }

    private struct Candidate: Hashable, Sendable {
        let device: String
        let address: DeviceAddress
        /// When it is asked to pair; nil if it was, or if it must not be.
        var asksAt: MonotonicInstant?
    }

    package private(set) var state = State.preparing
    private var candidates: [Candidate] = []
    private var refusals = 0
    private var left: [String] = []
    private let deadline: MonotonicInstant
    /// Who pairs.
    private let partner: String

    /// - Parameter partner: Who pairs, for messages: bluetoothd or the kernel.
    package init(at now: MonotonicInstant, with partner: String) {
        (deadline, self.partner) = (now.advanced(by: Self.duration), partner)
    }

    /// When `tick` is due.
    package var nextDeadline: MonotonicInstant? {
        switch state {
        case .preparing: deadline
        case .open: candidates.compactMap(\.asksAt).reduce(deadline, min)
        case .reading(_, let until, let next): min(until, next)
        case .removing(_, _, let until): until
        case .ended: nil
        }
    }

    /// Whether this device may pair: it has connected, and none has paired.
    package func allows(_ device: String) -> Bool { state == .open && candidates.contains { $0.device == device } }

    /// The address under which a device connected.
    package func address(of device: String) -> DeviceAddress? {
        candidates.first { $0.device == device }?.address
    }

    package mutating func handle(_ input: Input, at now: MonotonicInstant) -> [Effect] {
        switch (state, input) {
        case (.ended, _): return []
        case (.preparing, .advertised):
            state = .open
            return [.say(.waiting)]
        case (.open, .connected(let device, let address, let isIncoming)):
            return connected(device, address, isIncoming, at: now)
        case (.open, .disconnected(let device)):
            return lost(device, .left)
        case (.open, .refused(let device, let reason)):
            return lost(device, .refused(reason))
        case (.open, .paired(let device)) where allows(device):
            state = .reading(
                device: device, until: now.advanced(by: Self.keyTimeout), next: now.advanced(by: Self.keyInterval))
            return [.say(.paired), .readKey(device)]
        case (.reading(let device, let until, _), .key(let key, let resolves)):
            return read(device, key, resolves, until, at: now)
        case (.removing(let devices, let outcome, let until), .removed(let device, let failure)):
            if let failure { left.append(failure) }
            let rest = devices.filter { $0 != device }
            state = .removing(devices: rest, outcome, until: until)
            return rest.isEmpty ? end(outcome) : []
        // Only one device is enrolled, and no bond of another one stays.
        case (.reading, .paired(let device)), (.removing, .paired(let device)): return removeOther(device)
        case (.removing(let devices, let outcome, _), .failed(let reason)):
            left += devices.map { "\($0): \(reason)" }
            return end(outcome)
        case (.removing, _) where input != .tick: return []
        case (_, .failed(let reason)): return finish(.failed(reason), at: now)
        case (_, .interrupted): return finish(.interrupted, at: now)
        case (_, .tick): return tick(at: now)
        default: return []
        }
    }

    private mutating func connected(
        _ device: String, _ address: DeviceAddress, _ isIncoming: Bool, at now: MonotonicInstant
    ) -> [Effect] {
        let asksAt = isIncoming ? now.advanced(by: Self.patience) : nil
        if let index = candidates.firstIndex(where: { $0.device == device }) {
            if let asksAt, candidates[index].asksAt == nil { candidates[index].asksAt = asksAt }
            return []
        }
        guard candidates.count < Self.mostCandidates else { return [] }
        candidates.append(Candidate(device: device, address: address, asksAt: asksAt))
        return [.record(device), .say(.connected(address))]
    }

    private mutating func lost(_ device: String, _ progress: EnrolmentProgress) -> [Effect] {
        guard let index = candidates.firstIndex(where: { $0.device == device }) else { return [] }
        candidates.remove(at: index)
        refusals += 1
        return [.say(progress)]
    }

    private mutating func read(
        _ device: String, _ key: IdentityKey?, _ resolves: Bool?, _ until: MonotonicInstant, at now: MonotonicInstant
    ) -> [Effect] {
        guard let key else {
            guard now >= until else { return [] }
            return finish(.noKey(address(of: device)), at: now)
        }
        return finish(resolves == false ? .wrongKey : .enrolled(key, isTested: resolves == true), at: now)
    }

    private mutating func removeOther(_ device: String) -> [Effect] {
        guard candidates.contains(where: { $0.device == device }) else { return [] }
        switch state {
        case .reading(device, _, _): return []
        case .removing(let devices, let outcome, let until) where !devices.contains(device):
            state = .removing(devices: devices + [device], outcome, until: until)
            return [.remove(device)]
        // It is removed with the others at the end.
        default: return []
        }
    }

    private mutating func tick(at now: MonotonicInstant) -> [Effect] {
        switch state {
        case .preparing where now >= deadline: return finish(.failed("\(partner) does not answer"), at: now)
        case .open where now >= deadline: return finish(.timeout(refusals: refusals), at: now)
        case .open:
            var effects: [Effect] = []
            for index in candidates.indices {
                guard let asksAt = candidates[index].asksAt, now >= asksAt else { continue }
                candidates[index].asksAt = nil
                effects.append(.pair(candidates[index].device))
            }
            return effects
        case .reading(let device, let until, let next) where now >= min(until, next):
            state = .reading(device: device, until: until, next: now.advanced(by: Self.keyInterval))
            return [.readKey(device)]
        case .removing(let devices, let outcome, let until) where now >= until:
            left += devices.map { "\($0): \(partner) does not answer" }
            return end(outcome)
        default: return []
        }
    }

    /// Withdraws everything, removes every device that connected, and then ends.
    private mutating func finish(_ outcome: EnrolmentOutcome, at now: MonotonicInstant) -> [Effect] {
        let devices = candidates.map(\.device)
        guard !devices.isEmpty else { return [.withdraw] + end(outcome) }
        state = .removing(devices: devices, outcome, until: now.advanced(by: Self.removalTimeout))
        return [.withdraw] + devices.map { .remove($0) }
    }

    private mutating func end(_ outcome: EnrolmentOutcome) -> [Effect] {
        state = .ended
        return [.end(outcome, left: left)]
    }
}
