extension Telemetry.Frame {
    /// BTHome, version 2, not encrypted (bthome.io, "Format"): a byte of device information, then objects, each an id and a value,
    /// little endian. The battery level and the temperature are taken.
    ///
    /// Ids stand in rising order, and new ones are added to the list at the end: what stands before an unknown id is valid.
    init(btHome body: Span<UInt8>) {
        // Bit 0: encrypted. Bits 5 to 7: the version.
        guard body.count > 0, body[0] & 0xe1 == 0x40 else {
            self = .other
            return
        }
        var level: UInt8?
        var temperature: Float?
        var offset = 1
        while offset < body.count {
            let id = body[offset]
            offset += 1
            guard let length = BTHome.length(of: id, in: body, at: offset) else { break }
            guard offset + length <= body.count else {
                self = .inexact
                return
            }
            switch id {
            case 0x01: level = level ?? body[offset]
            case 0x02: temperature = temperature ?? Float(body.littleEndian(Int16.self, at: offset)) / 100
            case 0x45: temperature = temperature ?? Float(body.littleEndian(Int16.self, at: offset)) / 10
            case 0x57: temperature = temperature ?? Float(Int8(bitPattern: body[offset]))
            case 0x58: temperature = temperature ?? Float(Int8(bitPattern: body[offset])) * 0.35
            default: break
            }
            offset += length
        }
        self.init(.btHome, level: level, temperature: temperature)
    }
}

private enum BTHome {
    /// Bytes of the value of an object; nil for an unknown id.
    static func length(of id: UInt8, in body: Span<UInt8>, at offset: Int) -> Int? {
        switch id {
        case 0x00, 0x01, 0x09, 0x0f...0x11, 0x15...0x2f, 0x3a, 0x46, 0x57...0x59, 0x60: 1
        case 0x02, 0x03, 0x06...0x08, 0x0c...0x0e, 0x12...0x14, 0x3c, 0x3d, 0x3f...0x41, 0x43...0x45, 0x47...0x4a, 0x51,
            0x52, 0x56, 0x5a, 0x5d, 0x5e, 0x5f, 0x61, 0xf0:
            2
        case 0x04, 0x05, 0x0a, 0x0b, 0x42, 0x4b, 0xf2: 3
        case 0x3e, 0x4c...0x50, 0x55, 0x5b, 0x5c, 0x62, 0x63, 0xf1: 4
        // Text and raw bytes, with their length before them.
        case 0x53, 0x54: offset < body.count ? 1 + Int(body[offset]) : 1
        default: nil
        }
    }
}
