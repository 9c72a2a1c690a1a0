import JSON
import Rooms

/// What the gateways usually hear of each other's beacons, as it is stored:
/// `{"v":1,"gateways":["kitchen","hall"],"pairs":[[sender,receiver,mean,variance,blocks],…]}`, with the indices of the gateways.
struct StoredLevels {
    private(set) var pairs: [LevelSurvey.StoredPair]

    init(_ pairs: [LevelSurvey.StoredPair]) { self.pairs = pairs }

    var json: JSONValue {
        var names: [String] = []
        var indices: [String: Int64] = [:]
        func index(of name: String) -> JSONValue {
            if let index = indices[name] { return .integer(index) }
            let index = Int64(names.count)
            indices[name] = index
            names.append(name)
            return .integer(index)
        }
        let listed = pairs.map { pair -> JSONValue in
            .array([
                index(of: pair.sender), index(of: pair.receiver), .number(Double(pair.mean)),
                .number(Double(pair.variance)), .integer(Int64(pair.blocks)),
            ])
        }
        return ["v": 1, "gateways": .array(names.map { .string($0) }), "pairs": .array(listed)]
    }

    /// Reads what `json` wrote. A pair that cannot be read is left out: it is measured again.
    ///
    /// - Returns: nil if another version wrote it.
    init?(_ bytes: [UInt8]) {
        guard let json = try? JSONValue(parsing: bytes), json["v"]?.asInteger == 1 else { return nil }
        let names = (json["gateways"]?.array ?? []).map { $0.string ?? "" }
        pairs = (json["pairs"]?.array ?? []).compactMap { Self.pair($0, names) }
    }

    private static func pair(_ json: JSONValue, _ names: [String]) -> LevelSurvey.StoredPair? {
        guard let values = json.array, values.count == 5, let sender = name(values[0], names),
            let receiver = name(values[1], names), let mean = values[2].asNumber, let variance = values[3].asNumber,
            let blocks = values[4].asInteger.flatMap({ Int(exactly: $0) })
        else { return nil }
        return LevelSurvey.StoredPair(
            sender: sender, receiver: receiver, mean: Float(mean), variance: Float(variance), blocks: blocks)
    }

    private static func name(_ json: JSONValue, _ names: [String]) -> String? {
        guard let index = json.asInteger.flatMap({ Int(exactly: $0) }), names.indices.contains(index) else {
            return nil
        }
        return names[index]
    }
}
