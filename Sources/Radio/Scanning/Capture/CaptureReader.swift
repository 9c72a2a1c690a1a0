package import Base
import Beacon
package import System

/// Reads the HCI events of a btsnoop capture, a file or a pipe of any length, with one fixed buffer.
///
/// Records of other kinds are skipped, but time advances with them. Whole records are delivered. Then the first error is
/// thrown, once.
package struct CaptureReader: ~Copyable {
    /// As the user named it.
    package let file: String
    package let datalink: BtsnoopFormat.Datalink
    /// The recording's time at the last record of any kind.
    package private(set) var timeline: CaptureTimeline
    /// Whole records of any kind so far.
    package private(set) var records: UInt64 = 0
    /// Packets that the recorder says it dropped.
    package private(set) var lost: UInt64 = 0

    private let descriptor: FileDescriptor
    private var buffer: [UInt8]
    /// The bytes of `buffer` that were read but not consumed.
    private var pending: Range<Int> = 0..<0
    /// Where the bytes of the current event are in `buffer`.
    private var current: Range<Int> = 0..<0
    /// Position of the first byte of `pending` in the file.
    private var offset: Int64 = 0
    private var dropsSeen: UInt32 = 0
    private var isAtEnd = false

    /// Twice the longest packet, so that any record fits whole.
    private static let bufferLength = 2 * BtsnoopFormat.longestPacket

    /// Opens a capture and reads its header.
    ///
    /// - Parameters:
    ///   - path: A file, or `-` for standard input.
    ///   - start: The instant of its first record, for playing several in a row.
    ///   - kind: With `.regular`, neither reading nor opening waits.
    /// - Throws: If it cannot be opened, or is not a supported capture.
    package init(
        path: String, startingAt start: MonotonicInstant = .zero, _ kind: InputFile.Kind = .any
    ) throws(CaptureError) {
        let descriptor = try FileDescriptor.reading(path, kind)
        guard !descriptor.isDirectory else { throw CaptureError(file: path, reason: .isDirectory) }
        var buffer = [UInt8](repeating: 0, count: Self.bufferLength)
        var filled = 0
        while filled < BtsnoopFormat.headerLength {
            let count: Int
            do throws(SystemError) {
                count = try descriptor.read(into: &buffer, from: filled)
            } catch {
                throw CaptureError(file: path, reason: .cannotRead(error))
            }
            guard count > 0 else { break }
            filled += count
        }
        datalink = try Self.parseHeader(buffer.span.extracting(0..<filled), file: path)
        file = path
        timeline = CaptureTimeline(startingAt: start)
        self.descriptor = descriptor
        self.buffer = buffer
        pending = BtsnoopFormat.headerLength..<filled
        offset = Int64(BtsnoopFormat.headerLength)
    }

    /// Advances to the next HCI event.
    ///
    /// - Returns: nil at the end of the capture.
    /// - Throws: the error of the file, once; after that the file has ended.
    package mutating func advance() throws(CaptureError) -> CaptureRecord? {
        while try fill(BtsnoopFormat.recordHeaderLength) {
            let start = pending.lowerBound
            let original = bigEndian32(buffer.span, at: start)
            let included = bigEndian32(buffer.span, at: start + 4)
            let flags = bigEndian32(buffer.span, at: start + 8)
            let drops = bigEndian32(buffer.span, at: start + 12)
            let stamp = Int64(bitPattern: bigEndian64(buffer.span, at: start + 16))
            guard included <= BtsnoopFormat.longestPacket else { throw failure(.impossibleLength(included)) }
            guard included <= original else {
                throw failure(.contradictoryLength(included: included, original: original))
            }
            let length = BtsnoopFormat.recordHeaderLength + Int(included)
            guard try fill(length) else { return nil }
            guard timeline.advance(to: stamp) else { throw failure(.impossibleTime) }
            // The fill may have moved the record to the front.
            let packet = pending.lowerBound + BtsnoopFormat.recordHeaderLength..<pending.lowerBound + length
            consume(length)
            countDrops(drops)
            guard
                let event = BtsnoopFormat.eventOffset(
                    in: buffer.span.extracting(packet), datalink: datalink, flags: flags)
            else { continue }
            current = packet.lowerBound + event..<packet.upperBound
            return CaptureRecord(
                wallMicroseconds: stamp - BtsnoopFormat.unixEpoch, instant: timeline.instant,
                receiver: Receiver(index: datalink == .monitor ? UInt16(clamping: flags >> 16) : 0))
        }
        return nil
    }

    /// Passes `body` the bytes of the event that `advance` reached, from the event code on.
    package func withEvent<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        body(buffer.span.extracting(current))
    }

    /// Calls `body` with the next HCI event. The bytes are valid only during the call.
    ///
    /// - Returns: false at the end of the capture.
    /// - Throws: As `advance()` does.
    package mutating func next(_ body: (CaptureRecord, Span<UInt8>) -> Void) throws(CaptureError) -> Bool {
        guard let record = try advance() else { return false }
        body(record, buffer.span.extracting(current))
        return true
    }

    private mutating func consume(_ count: Int) {
        pending = pending.lowerBound + count..<pending.upperBound
        offset += Int64(count)
        records += 1
    }

    /// Makes `count` bytes of the next record pending; false at the end of the capture between two
    /// records.
    private mutating func fill(_ count: Int) throws(CaptureError) -> Bool {
        guard pending.count < count else { return true }
        guard !isAtEnd else { return false }
        if buffer.count - pending.lowerBound < count || pending.isEmpty {
            for (offset, index) in pending.enumerated() { buffer[offset] = buffer[index] }
            pending = 0..<pending.count
        }
        while pending.count < count {
            let read: Int
            do throws(SystemError) {
                read = try descriptor.read(into: &buffer, from: pending.upperBound)
            } catch {
                throw failure(.cannotRead(error))
            }
            guard read > 0 else {
                isAtEnd = true
                guard !pending.isEmpty else { return false }
                throw failure(.truncatedRecord(missing: count - pending.count))
            }
            pending = pending.lowerBound..<pending.upperBound + read
        }
        return true
    }

    /// `drops` counts all drops so far. It falls when a recorder starts again.
    private mutating func countDrops(_ drops: UInt32) {
        lost &+= UInt64(drops >= dropsSeen ? drops - dropsSeen : drops)
        dropsSeen = drops
    }

    private mutating func failure(_ reason: CaptureError.Reason) -> CaptureError {
        isAtEnd = true
        pending = pending.upperBound..<pending.upperBound
        return CaptureError(file: file, offset: offset, records: records, reason: reason)
    }

    private static func parseHeader(
        _ bytes: Span<UInt8>, file: String
    ) throws(CaptureError) -> BtsnoopFormat.Datalink {
        for index in 0..<min(8, bytes.count) where bytes[index] != BtsnoopFormat.magic[index] {
            throw CaptureError(file: file, reason: ForeignCapture(bytes).map { .foreign($0) } ?? .notBtsnoop)
        }
        guard bytes.count >= BtsnoopFormat.headerLength else {
            throw CaptureError(file: file, reason: bytes.count == 0 ? .notBtsnoop : .truncatedHeader)
        }
        let version = bigEndian32(bytes, at: 8)
        guard version == BtsnoopFormat.version else {
            throw CaptureError(file: file, offset: 8, reason: .unsupportedVersion(version))
        }
        let number = bigEndian32(bytes, at: 12)
        guard let datalink = BtsnoopFormat.Datalink(rawValue: number) else {
            throw CaptureError(file: file, offset: 12, reason: .unsupportedDatalink(number))
        }
        return datalink
    }
}
