import Base

/// The fingerprints of one room.
struct RoomFingerprints: Sendable {
    private(set) var prints: [Fingerprint] = []
    /// Seconds of training that the kept fingerprints represent.
    private(set) var seconds: Float = 0

    var count: Int { prints.count }

    mutating func removeAll() {
        prints = []
        seconds = 0
    }

    /// Forgets what one gateway measured, including that it heard nothing: it is unknown now.
    mutating func forget(gateway: GatewayIndex) {
        remove(gateway: gateway)
        welcome(gateway: gateway)
    }

    /// Removes a gateway.
    mutating func remove(gateway: GatewayIndex) {
        for place in prints.indices { prints[place].levels.removeAll { $0.gateway == gateway } }
    }

    /// Adds a new gateway, of which nothing is known.
    mutating func welcome(gateway: GatewayIndex) {
        for place in prints.indices where prints[place].levels.count < Self.mostLevels {
            let levels = prints[place].levels
            guard !levels.contains(where: { $0.gateway == gateway }) else { continue }
            let position = levels.firstIndex { $0.gateway > gateway } ?? levels.endIndex
            prints[place].levels.insert(
                FingerprintLevel(gateway: gateway, eighths: nil), at: position)
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
        prints.append(Fingerprint(levels: levels, seconds: moment.seconds, order: order))
        seconds += moment.seconds
    }

    /// Largest number of unknown gateways in one fingerprint.
    static let mostUnknown = 16
    /// Largest number of levels in one fingerprint, including unknown ones.
    static let mostLevels = Tag.mostLevels + mostUnknown

    /// Adds a window that lasted `seconds`: to the nearest fingerprint if that is near enough, otherwise as a new one.
    mutating func add(_ levels: [FingerprintLevel], seconds: Float, order: UInt64, _ tuning: RoomTuning) {
        var nearest: Int?
        var least = tuning.prints.mergeDistance
        for place in prints.indices {
            let distance = Self.meanSquare(prints[place].levels, levels, below: least, tuning)
            if distance < least {
                least = distance
                nearest = place
            }
        }
        if let nearest {
            merge(levels, into: nearest, seconds: seconds, order: order)
        } else {
            if prints.count >= tuning.prints.mostFingerprints { removeLeast() }
            prints.append(Fingerprint(levels: levels, seconds: seconds, order: order))
        }
        self.seconds = prints.reduce(0) { $0 + $1.seconds }
    }

    private mutating func merge(_ levels: [FingerprintLevel], into place: Int, seconds: Float, order: UInt64) {
        let total = min(prints[place].seconds + seconds, 30)
        let share = seconds / total
        for entry in prints[place].levels.indices {
            let gateway = prints[place].levels[entry].gateway
            guard let new = levels.first(where: { $0.gateway == gateway })?.eighths else { continue }
            let old = prints[place].levels[entry].eighths
            prints[place].levels[entry].eighths =
                old.map { Int16(Float($0) + (Float(new) - Float($0)) * share) } ?? new
        }
        prints[place].seconds = total
        prints[place].order = order
    }

    /// Removes the fingerprint that represents the fewest seconds; of equals, the oldest.
    private mutating func removeLeast() {
        guard
            let least = prints.indices.min(by: {
                (prints[$0].seconds, prints[$0].order) < (prints[$1].seconds, prints[$1].order)
            })
        else { return }
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
                    LearnedSite.Moment.Level(gateway: $0.gateway.position, eighths: $0.eighths.map(Int.init))
                })
        }
    }
}
