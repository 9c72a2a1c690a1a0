/// The timers of a service, and their times. The timers exist between start and stop.
struct AppTimers {
    /// How long to wait before connecting again when the process had no descriptor or thread left.
    static let connectRetry = Duration.seconds(10)
    /// How often presence is offered to the store while nothing is decided. The store writes it together with other
    /// data, or once in `StoreSettings.checkpointInterval`.
    static let checkpointInterval = Duration.seconds(60)
    /// When memory is released after the start and after a large list: the threads of the broker and the store have finished
    /// with it by then.
    static let releaseDelay = Duration.seconds(10)

    /// When the core has something to do.
    var deadline: (any ServiceTimer)?
    /// Looks at a wall clock that is not set yet.
    var clock: (any ServiceTimer)?
    /// Connects again after a connection could not be opened.
    var connect: (any ServiceTimer)?
    var checkpoint: (any ServiceTimer)?
    /// Continues with the remaining events of the broker.
    var brokerTurn: (any ServiceTimer)?
    /// Releases memory some time after the start, and after a large list came.
    var release: (any ServiceTimer)?
    var pruning = HistoryPruning()
}
