/// The frames of manufacturers. Offsets count from the end of the UUID in the service data.

extension Telemetry.Frame {
    /// Estimote Telemetry, subframe B, protocol versions 0 to 2 (github.com/Estimote/estimote-specs,
    /// `estimote-telemetry.js`).
    init(estimote body: Span<UInt8>) {
        // Low half of byte 0: the kind of the frame, 2 is telemetry. High half: the version. Then 8 bytes of
        // identifier. Low two bits of byte 9: the subframe; A has no battery.
        guard body.count > 0, body[0] & 0x0f == 2, body[0] >> 4 <= 2 else {
            self = .other
            return
        }
        guard body.count > 9 else {
            self = .inexact
            return
        }
        guard body[9] & 0x03 == 1 else {
            self = .other
            return
        }
        guard body.count == 20 else {
            self = .inexact
            return
        }
        // 12 bits, signed, 1/16 degree: the high two bits of byte 15, byte 16, the low two bits of byte 17.
        let raw = UInt16(body[17] & 0x03) << 10 | UInt16(body[16]) << 2 | UInt16(body[15]) >> 6
        let temperature = Float(Int16(bitPattern: raw << 4) >> 4) / 16
        // 14 bits, millivolts: the high six bits of byte 17, byte 18. All ones: not measured yet.
        let voltage = UInt16(body[18]) << 6 | UInt16(body[17]) >> 2
        // Per cent, from version 1 on; 255: not measured yet. In version 0 the byte has error flags.
        let level: UInt8? = body[0] >> 4 == 0 || body[19] == 0xff ? nil : body[19]
        self.init(
            .estimote, level: level, millivolts: voltage == 0x3fff ? nil : voltage, temperature: temperature)
    }

    /// Kontakt.io Secure Profile, plain (developer.kontakt.io, "Secure Profile"): 0x02, model, firmware (2), battery
    /// level, transmission power, and the tag's name of at least one character.
    init(kontakt body: Span<UInt8>) {
        guard body.count > 0, body[0] == 0x02 else {
            self = .other
            return
        }
        guard body.count > 6 else {
            self = .inexact
            return
        }
        // 255: the tag has no battery.
        self.init(.kontakt, level: body[4] == 0xff ? nil : body[4])
    }

    /// Minew Info (Minew, "MiniBeaconPlus Configuration Instruction", 2.2): 0xA1, version 0x08, battery level,
    /// address (6), and the tag's name, which may be empty.
    init(minew body: Span<UInt8>) {
        guard body.count > 1, body[0] == 0xa1, body[1] == 0x08 else {
            self = .other
            return
        }
        guard body.count >= 9 else {
            self = .inexact
            return
        }
        self.init(.minew, level: body[2])
    }
}
