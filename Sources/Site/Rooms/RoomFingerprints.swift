import Base

/// The fingerprints of one room.
struct RoomFingerprints: Sendable {
    private(set) var prints: [Fingerprint] = []
    /// Seconds of training that the kept fingerprints represent.
    private(set) var seconds: Float = 0
    /// Measurements of gateways that may have been carried to another room since. They count for nothing until that is known.
    private(set) var aside: [Aside] = []
    private var latestID: UInt32 = 0

    /// What one gateway had in a fingerprint. A fingerprint has at most one for a gateway, and only for one that it lists.
    struct Aside: Hashable, Sendable, BitwiseCopyable {
        /// The fingerprint's.
        var id: UInt32
        var gateway: GatewayIndex
        /// Eighths of a dB; nil: it heard nothing.
        var eighths: Int16?
    }

    var count: Int { prints.count }

    mutating func removeAll() {
        self = RoomFingerprints()
    }

    /// Sets aside what one gateway measured, including that it heard nothing: it is unknown now. What was set aside before stays.
    mutating func setAside(gateway: GatewayIndex) {
        let known = Set(aside.filter { $0.gateway == gateway }.map(\.id))
        for print in prints where !known.contains(print.id) {
            let level = print.levels.first { $0.gateway == gateway }
            // Nothing is known about one that was not listening, and a full fingerprint takes no more.
            if let level, level.eighths == nil { continue }
            guard level != nil || print.levels.count < Self.mostLevels else { continue }
            aside.append(Aside(id: print.id, gateway: gateway, eighths: level?.eighths))
        }
        removeLevels(of: gateway)
        welcome(gateway: gateway)
    }

    /// What was set aside of one gateway counts again. What it measured since is newer, and stays.
    mutating func bringBack(gateway: GatewayIndex) {
        for one in aside where one.gateway == gateway {
            guard let index = prints.firstIndex(where: { $0.id == one.id }),
                let entry = prints[index].levels.firstIndex(where: { $0.gateway == gateway }),
                prints[index].levels[entry].eighths == nil
            else { continue }
            if let eighths = one.eighths {
                prints[index].levels[entry].eighths = eighths
            } else {
                prints[index].levels.remove(at: entry)
            }
        }
        dropAside(gateway: gateway)
    }

    /// Forgets what was set aside of one gateway.
    mutating func dropAside(gateway: GatewayIndex) { aside.removeAll { $0.gateway == gateway } }

    /// Removes a gateway.
    mutating func remove(gateway: GatewayIndex) {
        removeLevels(of: gateway)
        dropAside(gateway: gateway)
    }

    private mutating func removeLevels(of gateway: GatewayIndex) {
        for index in prints.indices { prints[index].levels.removeAll { $0.gateway == gateway } }
    }

    /// Adds a new gateway, about which nothing is known.
    mutating func welcome(gateway: GatewayIndex) {
        for index in prints.indices where prints[index].levels.count < Self.mostLevels {
            let levels = prints[index].levels
            guard !levels.contains(where: { $0.gateway == gateway }) else { continue }
            let following = levels.firstIndex { $0.gateway > gateway } ?? levels.endIndex
            prints[index].levels.insert(
                FingerprintLevel(gateway: gateway, eighths: nil), at: following)
        }
    }

    /// Restores a stored fingerprint.
    ///
    /// - Parameter gateways: The index of each gateway of the `LearnedSite`; nil for one without an index.
    mutating func restore(_ moment: LearnedSite.Moment, _ gateways: [GatewayIndex?], order: UInt64) {
        var levels: [FingerprintLevel] = []
        for level in moment.levels {
            guard gateways.indices.contains(level.gateway), let gateway = gateways[level.gateway] else { continue }
            let eighths = level.eighths.map { Int16(max(-1024, min(1023, $0))) }
            levels.append(FingerprintLevel(gateway: gateway, eighths: eighths))
        }
        levels.sort { $0.gateway < $1.gateway }
        guard moment.seconds > 0, moment.seconds <= 30, levels.count <= Self.mostLevels,
            zip(levels, levels.dropFirst()).allSatisfy({ $0.gateway < $1.gateway })
        else { return }
        append(levels, seconds: moment.seconds, order: order)
        for level in moment.aside.prefix(Self.mostLevels) {
            // Only a listed gateway about which nothing is known.
            guard gateways.indices.contains(level.gateway), let gateway = gateways[level.gateway],
                levels.contains(where: { $0.gateway == gateway && $0.eighths == nil }),
                !aside.contains(where: { $0.id == latestID && $0.gateway == gateway })
            else { continue }
            let eighths = level.eighths.map { Int16(max(-1024, min(1023, $0))) }
            aside.append(Aside(id: latestID, gateway: gateway, eighths: eighths))
        }
        seconds += moment.seconds
    }

    private mutating func append(_ levels: [FingerprintLevel], seconds: Float, order: UInt64) {
        latestID &+= 1
        prints.append(Fingerprint(levels: levels, seconds: seconds, id: latestID, order: order))
    }

    /// Largest number of unknown gateways in one fingerprint.
    static let mostUnknown = 16
    /// Largest number of levels in one fingerprint, including unknown ones.
    static let mostLevels = Tag.mostLevels + mostUnknown

    /// Adds a window that lasted `seconds`: to the nearest fingerprint if that is near enough, otherwise as a new one.
    mutating func add(_ levels: [FingerprintLevel], seconds: Float, order: UInt64, _ tuning: RoomTuning) {
        var nearest: Int?
        var least = tuning.prints.mergeDistance
        for index in prints.indices {
            let distance = Self.meanSquare(prints[index].levels, levels, below: least, tuning)
            if distance < least {
                least = distance
                nearest = index
            }
        }
        if let nearest {
            merge(levels, into: nearest, seconds: seconds, order: order)
        } else {
            if prints.count >= tuning.prints.mostFingerprints { removeLeast() }
            append(levels, seconds: seconds, order: order)
        }
        self.seconds = prints.reduce(0) { $0 + $1.seconds }
    }

    private mutating func merge(_ levels: [FingerprintLevel], into index: Int, seconds: Float, order: UInt64) {
        let total = min(prints[index].seconds + seconds, 30)
        // Windows that are worth nothing have no share of each other; 0/0 has no value that a level could take.
        guard total > 0 else { return }
        let share = seconds / total
        for entry in prints[index].levels.indices {
            let gateway = prints[index].levels[entry].gateway
            guard let new = levels.first(where: { $0.gateway == gateway })?.eighths else { continue }
            let old = prints[index].levels[entry].eighths
            prints[index].levels[entry].eighths =
                old.map { Int16(Float($0) + (Float(new) - Float($0)) * share) } ?? new
        }
        prints[index].seconds = total
        prints[index].order = order
    }

    /// Removes the fingerprint that represents the fewest seconds; of equals, the oldest.
    private mutating func removeLeast() {
        guard
            let least = prints.indices.min(by: {
                (prints[$0].seconds, prints[$0].order) < (prints[$1].seconds, prints[$1].order)
            })
        else { return }
        if !aside.isEmpty { aside.removeAll { [id = prints[least].id] in $0.id == id } }
        prints.remove(at: least)
    }

    /// Squared distance per gateway, in squared widths; infinity as soon as it cannot be below the limit.
    private static func meanSquare(
        _ left: [FingerprintLevel], _ right: [FingerprintLevel], below limit: Float, _ tuning: RoomTuning
    ) -> Float {
        let miss = Int16(tuning.silence.missLevel * 8)
        let most = limit * Float(left.count + right.count)
        var sum: Float = 0
        var count: Float = 0
        var (i, j) = (0, 0)
        while i < left.count || j < right.count {
            var (a, b): (Int16?, Int16?) = (miss, miss)
            let isLeft = j >= right.count || i < left.count && left[i].gateway <= right[j].gateway
            let isRight = i >= left.count || j < right.count && right[j].gateway <= left[i].gateway
            if isLeft {
                a = left[i].eighths
                i += 1
            }
            if isRight {
                b = right[j].eighths
                j += 1
            }
            guard let a, let b else { continue }
            let difference = (Float(a) - Float(b)) / 8 / tuning.prints.kernelWidth
            sum += min(difference * difference, tuning.prints.distanceCap)
            count += 1
            guard sum <= most else { return .infinity }
        }
        return count > 0 ? sum / count : .infinity
    }

    /// Sum of `seconds · density` over all fingerprints. The density has a narrow part, for the body that walked, and a wide one
    /// for other bodies. A body that weakens the tag at all gateways alike says nothing about the place, so the wide part integrates over
    /// this common shift.
    ///
    /// - Parameters:
    ///   - base: Squared distance to a fingerprint in which nothing was heard.
    ///   - parts: The part of each gateway in `base`.
    func likelihood(
        _ heard: borrowing LevelVector, base: Float, parts: Table<GatewayIndex, Float>, _ tuning: RoomTuning
    ) -> Float {
        var sum: Float = 0
        let scale = 1 / tuning.prints.kernelWidth
        let missCap = min(tuning.prints.missCap, tuning.prints.missPerPacket * Float(heard.packets))
        let ratio = tuning.prints.kernelWidth / tuning.prints.otherBodyWidth
        let variance = tuning.prints.otherBodyWidth * tuning.prints.otherBodyWidth
        let common = tuning.prints.bodyDeviation * tuning.prints.bodyDeviation / variance
        let interval = max(1, heard.elapsed)
        var otherBody = tuning.prints.otherBodyShare / (interval * interval)
        for _ in heard.heard { otherBody *= ratio }
        for print in prints {
            // Squared distances: of gateways that heard nothing then or now, and of the others.
            var missed = base
            var square: Float = 0
            // Of the others: number, sum of the differences, sum of their squares.
            var (count, total, squares): (Float, Float, Float) = (0, 0, 0)
            for entry in print.levels {
                guard parts.contains(index: entry.gateway) else { continue }
                missed -= parts[entry.gateway]
                guard let level = heard.levels[entry.gateway].dBm else { continue }
                guard let eighths = entry.eighths else {
                    // Its silence says nothing: a place without a fingerprint does not pay for it either.
                    if level > tuning.silence.missLevel { missed += tuning.prints.unknownDistance }
                    continue
                }
                let difference = level - Float(eighths) / 8
                let distance = difference * scale * (difference * scale)
                guard level > tuning.silence.missLevel else {
                    missed += min(distance, missCap)
                    continue
                }
                square += min(distance, tuning.prints.distanceCap)
                count += 1
                total += difference
                squares += difference * difference
            }
            let joint = 1 + count * common
            let wide = missed * ratio * ratio + (squares - total * total * common / joint) / variance
            sum +=
                print.seconds
                * (FixedMath.exp(-0.5 * max(0, missed + square))
                    + otherBody / joint.squareRoot() * FixedMath.exp(-0.5 * max(0, wide)))
        }
        return sum
    }
}

extension RoomFingerprints {
    var moments: [LearnedSite.Moment] {
        prints.sorted { $0.order < $1.order }.map { print in
            LearnedSite.Moment(
                seconds: print.seconds,
                levels: print.levels.map {
                    LearnedSite.Moment.Level(gateway: $0.gateway.number, eighths: $0.eighths.map(Int.init))
                },
                aside: aside.filter { $0.id == print.id }.map {
                    LearnedSite.Moment.Level(gateway: $0.gateway.number, eighths: $0.eighths.map(Int.init))
                })
        }
    }
}
