/// The receiver of an `HCIReader`'s packets, which are valid only during the call.
protocol HCIReaderDelegate: AnyObject {
    /// A program, or the kernel, sent a command to the controller. What is sent on the reader's own socket does not come.
    func saw(command opcode: UInt16, parameters: Span<UInt8>)
    /// The controller answered a command.
    ///
    /// - Parameter result: The return parameters after the status.
    func answered(_ opcode: UInt16, status: UInt8, result: Span<UInt8>)
    /// An LE event, with its code.
    func received(event: Span<UInt8>)
    /// The socket failed, for example because the adapter is gone, and is closed.
    func readerFailed(_ reason: String)
}
