package import System

/// An error of a capture file, and its position.
package struct CaptureError: Error, Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        case cannotOpen(SystemError)
        case cannotRead(SystemError)
        case cannotWrite(SystemError)
        /// Neither file nor pipe nor device.
        case isDirectory
        /// A pipe or a device, where only a regular file is accepted.
        case isNoFile
        /// It does not begin with `btsnoop`.
        case notBtsnoop
        /// It is a file of another kind.
        case foreign(ForeignCapture)
        case unsupportedVersion(UInt32)
        case unsupportedDatalink(UInt32)
        /// It ends inside the file's header.
        case truncatedHeader
        /// It ends inside a record: the recorder was stopped, or the copy is incomplete.
        case truncatedRecord(missing: Int)
        /// A record claims more bytes than any packet has.
        case impossibleLength(UInt32)
        /// A record holds more bytes than the packet it was made from had.
        case contradictoryLength(included: UInt32, original: UInt32)
        /// A record's time stamp is before the year 0, or a hundred years after the first one.
        case impossibleTime
    }

    /// As the user named it; `-` is standard input.
    package let file: String
    /// Position of the wrong header or record, in bytes from the start of the file.
    package var offset: Int64 = 0
    /// Number of whole records before it, which are valid.
    package var records: UInt64 = 0
    package let reason: Reason

    /// Whether the whole file is unusable, in contrast to one whose beginning could be used.
    package var isTotal: Bool {
        switch reason {
        case .cannotOpen, .cannotWrite, .isDirectory, .isNoFile, .notBtsnoop, .foreign, .unsupportedVersion,
            .unsupportedDatalink,
            .truncatedHeader:
            true
        case .cannotRead, .truncatedRecord, .impossibleLength, .contradictoryLength, .impossibleTime: false
        }
    }
}

extension CaptureError: CustomStringConvertible {
    /// One line without a full stop: the file, the byte, the error and the usable part.
    package var description: String {
        guard !isTotal else { return "\(file): \(cause)" }
        let use = records == 1 ? "the record before it was used" : "the \(records) records before it were used"
        return "\(file): at byte \(offset): \(cause); \(use)"
    }

    private var cause: String {
        switch reason {
        case .cannotOpen(let error): "cannot be opened: \(error.message)"
        case .cannotRead(let error): "cannot be read: \(error.message)"
        case .cannotWrite(let error): "cannot be written: \(error.message)"
        case .isDirectory: "is a directory, not a capture"
        case .isNoFile: "is a pipe or a device, for which the loop cannot wait; use a file"
        case .notBtsnoop: "is not a btsnoop capture (it does not begin with the word 'btsnoop')"
        case .foreign(let kind): kind.text(for: file)
        case .unsupportedVersion(let version): "is btsnoop version \(version); only version 1 can be read"
        case .unsupportedDatalink(let number):
            "has datalink \(number); only 1001 (HCI), 1002 (H4) and 2001 (Linux monitor) can be read"
        case .truncatedHeader: "ends inside its header; a btsnoop capture begins with 16 bytes"
        case .truncatedRecord(let missing): "the last record is cut short, \(missing) bytes are missing"
        case .impossibleLength(let length): "a record claims \(length) bytes, more than any packet has"
        case .contradictoryLength(let included, let original):
            "a record holds \(included) bytes of a packet that had \(original)"
        case .impossibleTime: "a record has an impossible time stamp"
        }
    }
}
