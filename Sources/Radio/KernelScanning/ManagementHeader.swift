/// The header of a message from the management socket.
package struct ManagementHeader: Hashable, Sendable, BitwiseCopyable {
    package static let length = 6

    package let code: UInt16
    package let index: UInt16

    /// - Returns: nil if the message is shorter than its header announces. A longer message is accepted, because later
    ///   kernels add fields.
    package init?(_ message: Span<UInt8>) {
        guard let code = message.littleEndian16(at: 0), let index = message.littleEndian16(at: 2),
            let length = message.littleEndian16(at: 4), message.count >= Self.length + Int(length)
        else { return nil }
        self.code = code
        self.index = index
    }
}
