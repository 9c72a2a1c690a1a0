import Base

/// The receiver of an `AdapterMonitor`'s events. All calls are made on the loop's thread.
protocol AdapterMonitorDelegate: AnyObject {
    /// The adapter is present, powered and supports Low Energy. This may be called again after `adapterLost`.
    func adapterReady(_ index: UInt16, at now: MonotonicInstant)
    /// The adapter is off or asleep, or, if `isGone`, no longer there.
    func adapterLost(_ index: UInt16, isGone: Bool, because reason: String, at now: MonotonicInstant)
    /// An event of the management socket that the monitor does not use itself.
    func received(_ event: ManagementEvent, index: UInt16, at now: MonotonicInstant)
    /// An advertising packet.
    func found(_ device: FoundDevice, data: Span<UInt8>, index: UInt16, at now: MonotonicInstant)
    /// A malformed message of the management socket.
    func malformed(index: UInt16)
    func notice(_ notice: Notice)
}
