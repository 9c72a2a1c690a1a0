import Base

/// A tag's levels in one window, one element for each gateway.
struct LevelVector: Sendable {
    /// `missLevel` if the gateway listens and does not hear the tag; none if the gateway says nothing.
    var levels = Table<GatewayIndex, OptionalLevel>()
    /// Gateways that hear the tag, sorted.
    var heard: [GatewayIndex] = []
    /// Packets of the tag in the window: the largest count of any gateway.
    var packets: Int16 = 1
    /// Whether the gateway that hears the tag best has heard it since the previous window.
    var isLoudestNew = false
    /// Whether a gateway heard the tag, and not only ESPresense nodes.
    var isHeardByGateway = false
    /// When the window ended.
    var now = MonotonicInstant.zero
    /// Seconds since the tag's previous window.
    var elapsed: Float = 1
}
