/// How a tag in a room would be heard, by what gateways hear of each other: the tag is about where a gateway of the room is.
///
/// For each receiver it is a normal distribution of levels, and how often it hears nothing (`SurveyedWindow` weighs it).
struct SurveyedRoom: Sendable {
    struct Cell: Sendable, BitwiseCopyable {
        /// dBm; NaN: nothing is known of the receiver.
        var mean: Float = .nan
        /// Logarithm of the probability that it hears a packet.
        var heard: Float = 0
    }

    struct Silence: Sendable, BitwiseCopyable {
        var gateway: GatewayIndex
        /// Logarithm of the probability that it does not hear a packet.
        var missed: Float
    }

    /// By gateway, up to the last one of which something is known.
    private(set) var cells = Table<GatewayIndex, Cell>()
    /// Those whose silence counts: the loudest, `RoomLevels.mostCells` at most.
    private(set) var silences: [Silence] = []

    init() {}

    /// - Parameter means: Of each receiver of the site, dBm, sorted by gateway.
    init(_ means: [(gateway: GatewayIndex, level: Float)], _ tuning: RoomTuning) {
        var cells = [Cell](repeating: Cell(), count: means.last.map { $0.gateway.number + 1 } ?? 0)
        for (gateway, mean) in means {
            cells[gateway.number] = Cell(
                mean: mean, heard: FixedMath.log(max(0.01, Self.hits(mean, tuning.surveyed))))
        }
        self.cells = Table(cells)
        let loudest = Array(
            means.sorted { ($1.level, $0.gateway) < ($0.level, $1.gateway) }.prefix(RoomLevels.mostCells))
        silences = loudest.map { gateway, mean in
            Silence(gateway: gateway, missed: FixedMath.log(1 - Self.hits(mean, tuning.surveyed)))
        }
    }

    /// Whether it is known how the gateway hears a tag in the room.
    func isKnown(_ gateway: GatewayIndex) -> Bool { cells.contains(index: gateway) && cells[gateway].mean.isFinite }

    /// The share of packets that a receiver hears at a level.
    private static func hits(_ level: Float, _ tuning: SurveyedTuning) -> Float {
        (1 - tuning.lost) / (1 + FixedMath.exp((tuning.halfHeard - level) / tuning.deviation))
    }

    /// The seconds of the engine's own decisions that it is worth. It fades where something better is known.
    ///
    /// - Parameters:
    ///   - labelled: Seconds of training in the room.
    ///   - decided: Seconds of the engine's own decisions.
    @inline(__always)
    func seconds(labelled: Float, decided: Float, _ tuning: SurveyedTuning) -> Float {
        guard !cells.isEmpty else { return 0 }
        return tuning.seconds * (tuning.labelledSeconds / (tuning.labelledSeconds + labelled))
            * (tuning.ownSeconds / (tuning.ownSeconds + decided))
    }
}
