package import Beacon
import System

/// Writes HCI events as a btsnoop capture that `CaptureReader`, `btmon` and Wireshark read.
///
/// Bytes are collected and written in large pieces. `close()` reports whether all of them were written.
package struct CaptureWriter: ~Copyable {
    private let file: String
    private let datalink: BtsnoopFormat.Datalink
    private let descriptor: FileDescriptor
    private var buffer: [UInt8]
    private var isBroken = false

    private static let flushLength = 65_536

    /// Creates or empties a file, which begins with the header.
    ///
    /// - Parameters:
    ///   - path: A file, or `-` for standard output.
    ///   - datalink: Only `.monitor` distinguishes the receivers.
    /// - Throws: If the file cannot be created.
    package init(path: String, datalink: BtsnoopFormat.Datalink = .monitor) throws(CaptureError) {
        // Members are set after all throwing calls: Swift 6.2 destroys members twice that were set before.
        descriptor = try FileDescriptor.writing(path)
        file = path
        self.datalink = datalink
        buffer = Self.header(datalink)
    }

    deinit {
        if !isBroken { try? descriptor.write(buffer) }
    }

    /// Appends one HCI event.
    ///
    /// - Parameters:
    ///   - event: The event from its event code on.
    ///   - wallMicroseconds: When it was heard, in µs since 1970.
    ///   - receiver: The adapter that heard it.
    /// - Throws: If the bytes cannot be written; then the capture is broken and nothing more is written.
    package mutating func write(
        event: Span<UInt8>, wallMicroseconds: Int64, receiver: Receiver
    ) throws(CaptureError) {
        beginRecord(length: event.count, wallMicroseconds: wallMicroseconds, receiver: receiver)
        for index in 0..<event.count { buffer.append(event[index]) }
        if buffer.count >= Self.flushLength { try flush() }
    }

    /// Appends one advertising packet as the event that a controller would send for it: scanners that get packets from the
    /// kernel see no events. The packet's kind is not known, so it is written as non-connectable.
    ///
    /// - Parameters:
    ///   - report: Address and strength.
    ///   - data: At most 229 bytes; the rest does not fit one event and is cut off.
    ///   - wallMicroseconds: When it was heard, in µs since 1970.
    ///   - receiver: The adapter that heard it.
    /// - Throws: As for an event.
    package mutating func write(
        _ report: AdvertisingReport, data: Span<UInt8>, wallMicroseconds: Int64, receiver: Receiver
    ) throws(CaptureError) {
        let isLegacy = data.count <= 31
        let data = data.extracting(first: 229)
        let length = (isLegacy ? 14 : 28) + data.count
        beginRecord(length: length, wallMicroseconds: wallMicroseconds, receiver: receiver)
        let rssi = UInt8(bitPattern: report.rssi?.dBm ?? 127)
        buffer.append(AdvertisingReportParser.leMetaEvent)
        buffer.append(UInt8(length - 2))
        if isLegacy {
            // One report, event type ADV_NONCONN_IND.
            for byte: UInt8 in [0x02, 1, 0x03] { buffer.append(byte) }
            append(report.address)
        } else {
            // One report, event type 0 (non-connectable, data complete).
            for byte: UInt8 in [0x0d, 1, 0, 0] { buffer.append(byte) }
            append(report.address)
            // Primary PHY 1M, no secondary, SID and TX power not available.
            for byte: UInt8 in [1, 0, 0xff, 0x7f, rssi, 0, 0, 0, 0, 0, 0, 0, 0, 0] { buffer.append(byte) }
        }
        buffer.append(UInt8(data.count))
        for index in 0..<data.count { buffer.append(data[index]) }
        if isLegacy { buffer.append(rssi) }
        if buffer.count >= Self.flushLength { try flush() }
    }

    /// Passes all bytes to the kernel.
    package mutating func flush() throws(CaptureError) {
        guard !isBroken, !buffer.isEmpty else { return }
        do throws(SystemError) {
            try descriptor.write(buffer)
        } catch {
            isBroken = true
            throw CaptureError(file: file, reason: .cannotWrite(error))
        }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Writes the remaining bytes and closes the file.
    package consuming func close() throws(CaptureError) {
        try flush()
    }

    private mutating func beginRecord(length: Int, wallMicroseconds: Int64, receiver: Receiver) {
        let wrapped = length + (datalink == .uart ? 1 : 0)
        buffer.append(bigEndian: UInt32(wrapped))
        buffer.append(bigEndian: UInt32(wrapped))
        switch datalink {
        case .hci, .uart: buffer.append(bigEndian: BtsnoopFormat.hciEventFlags)
        case .monitor: buffer.append(bigEndian: UInt32(receiver.index) << 16 | UInt32(BtsnoopFormat.monitorEvent))
        }
        buffer.append(bigEndian: 0)
        let stamp = UInt64(bitPattern: wallMicroseconds &+ BtsnoopFormat.unixEpoch)
        buffer.append(bigEndian: UInt32(truncatingIfNeeded: stamp >> 32))
        buffer.append(bigEndian: UInt32(truncatingIfNeeded: stamp))
        if datalink == .uart { buffer.append(BtsnoopFormat.uartEvent) }
    }

    /// The file's header, with room for the records that are collected after it.
    private static func header(_ datalink: BtsnoopFormat.Datalink) -> [UInt8] {
        var header: [UInt8] = []
        header.reserveCapacity(flushLength + 512)
        for index in 0..<8 { header.append(BtsnoopFormat.magic[index]) }
        header.append(bigEndian: BtsnoopFormat.version)
        header.append(bigEndian: datalink.rawValue)
        return header
    }

    private mutating func append(_ address: DeviceAddress) {
        buffer.append(address.isRandom ? 1 : 0)
        for octet in 0..<6 { buffer.append(UInt8(truncatingIfNeeded: address.value >> UInt64(8 * octet))) }
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian number: UInt32) {
        for shift: UInt32 in [24, 16, 8, 0] { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}
