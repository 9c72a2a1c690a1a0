package import Base
package import Beacon

/// What a capture says about one HCI event, apart from the event's bytes.
package struct CaptureRecord: Hashable, Sendable, BitwiseCopyable {
    /// Wall time as recorded, in µs since 1970. It may jump, so decisions use only `instant`.
    package let wallMicroseconds: Int64
    /// Time since the first record of the capture, never running backwards.
    package let instant: MonotonicInstant
    /// The adapter that heard it; 0 if the format does not say.
    package let receiver: Receiver
}
