/// The radio that heard something: the adapter's index in the scanner's numbering (`hci0` is 0), or the number of a gateway of a site.
public struct Receiver: Hashable, Sendable, BitwiseCopyable {
    /// From 0.
    public let index: UInt16

    /// The receiver with this index.
    public init(index: UInt16) { self.index = index }
}
