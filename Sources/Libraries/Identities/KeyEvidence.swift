import Base

/// Whether what was heard under an address of a key is its device.
///
/// A stranger's address fits a key once in 2^24 addresses. More packets of that address are no further evidence; these are:
/// - another address of the key within `window`,
/// - a packet of a shape that the device is known to send, and so few strangers that the key is not mistaken too often.
/// The shapes are known once the device was heard under two addresses. Until then one address is enough, because there is
/// nothing to compare with.
struct KeyEvidence {
    /// Devices change their address after 15 min at the latest, if they follow the Core Specification's recommendation
    /// (5.4, Vol 3, Part C, Appendix A); twice that.
    static let window = Duration.seconds(1800)
    /// Shapes that are remembered. Phones send about six.
    static let mostShapes = 16
    /// Packets of one address that are weighed, so that a sender who repeats an old address of the device costs little.
    static let mostTrials = 16

    private struct KnownShape {
        let shape: PacketShape
        var packets: UInt32
    }

    private struct Candidate {
        let address: UInt64
        var heard: MonotonicInstant
        /// The shape that was weighed last, and how many were.
        var shape: PacketShape?
        var trials = 0
    }

    /// The address under which the device was heard last, and when.
    private var accepted: (address: UInt64, heard: MonotonicInstant)?
    /// An address that fits, without other evidence.
    private var candidate: Candidate?
    private var shapes: [KnownShape] = []
    /// Whether the device was heard under two addresses.
    private(set) var isKnown = false

    /// When a packet counted as one of the device.
    var lastHeard: MonotonicInstant? { accepted?.heard }

    init() { shapes.reserveCapacity(Self.mostShapes) }

    /// Whether a packet counts as one of the device. nil: only if strangers seldom send the like, which `weighs` tells.
    mutating func accepts(_ address: UInt64, _ shape: PacketShape, at now: MonotonicInstant) -> Bool? {
        if let last = accepted, last.address == address {
            accept(address, shape, at: now)
            return true
        }
        if let last = accepted, last.heard.duration(to: now) <= Self.window {
            isKnown = true
        } else if let other = candidate, other.address != address, other.heard.duration(to: now) <= Self.window {
            isKnown = true
        } else if !isKnown {
            shapes.removeAll(keepingCapacity: true)
        } else {
            return isNews(address, shape, at: now) ? nil : false
        }
        accept(address, shape, at: now)
        return true
    }

    /// Whether a packet counts as one of the device, if its address is the only other evidence.
    ///
    /// - Parameter tolerance: The share of strangers that may be taken for the device. From 1 on all may: so few addresses fit
    ///   by chance that no further evidence is needed.
    mutating func weighs(
        _ address: UInt64, _ shape: PacketShape, at now: MonotonicInstant, among strangers: Strangers, tolerance: Double
    ) -> Bool {
        guard tolerance >= 1 || rarity(of: shape, strangers).map({ $0 <= tolerance }) ?? false else { return false }
        accept(address, shape, at: now)
        return true
    }

    private mutating func accept(_ address: UInt64, _ shape: PacketShape, at now: MonotonicInstant) {
        accepted = (address, now)
        candidate = nil
        if let index = shapes.firstIndex(where: { $0.shape == shape }) {
            if shapes[index].packets < .max { shapes[index].packets += 1 }
        } else if shapes.count < Self.mostShapes {
            shapes.append(KnownShape(shape: shape, packets: 1))
        }
    }

    /// Remembers the address as one that fits, and whether its packet has not been weighed yet.
    private mutating func isNews(_ address: UInt64, _ shape: PacketShape, at now: MonotonicInstant) -> Bool {
        var trial = candidate ?? Candidate(address: address, heard: now)
        if trial.address != address { trial = Candidate(address: address, heard: now) }
        trial.heard = now
        let isNews = trial.shape != shape && trial.trials < Self.mostTrials
        if isNews { (trial.shape, trial.trials) = (shape, trial.trials + 1) }
        candidate = trial
        return isNews
    }

    /// The share of strangers that send something at least as telling: of the device's shapes, those whose part in its packets
    /// is as high compared with their share among strangers. Taken in this order, the shapes let in the device as soon as its
    /// chance matches allow.
    ///
    /// - Returns: nil if the device is not known to send the shape.
    private func rarity(of shape: PacketShape, _ strangers: Strangers) -> Double? {
        guard let known = shapes.first(where: { $0.shape == shape }) else { return nil }
        func share(_ known: KnownShape) -> Double { strangers.share(sendingOneOf: [known.shape]) }
        let own = share(known)
        let telling = shapes.filter { Double($0.packets) * own >= Double(known.packets) * share($0) }
        return strangers.share(sendingOneOf: telling.map(\.shape))
    }
}
