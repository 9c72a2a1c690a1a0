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

    /// The frames 0xA1 of Minew's tags. All begin with kind and battery level.
    ///
    /// - 0x08, Info (Minew, "MiniBeaconPlus Configuration Instruction", 2.2): address (6), and the tag's name, which may be empty.
    /// - 0x01, temperature and humidity (github.com/reelyactive/advlib-ble-services, `minew.js`): both as 8.8 fixed point, signed,
    ///   then the address.
    /// - 0x03, acceleration on three axes (the same), then the address.
    /// - 0x04, of Satech's tags (github.com/custom-components/ble_monitor, issue 1085): as long as 0x01. Public frames disagree on
    ///   the unit of its temperature, so that it is not read.
    init(minew body: Span<UInt8>) {
        guard body.count > 1, body[0] == 0xa1 else {
            self = .other
            return
        }
        let isWhole: Bool
        switch body[1] {
        case 0x01, 0x04: isWhole = body.count == 13
        case 0x03: isWhole = body.count == 15
        case 0x08: isWhole = body.count >= 9
        default:
            self = .other
            return
        }
        guard isWhole else {
            self = .inexact
            return
        }
        let temperature = body[1] == 0x01 ? Float(body.bigEndian(Int16.self, at: 3)) / 256 : nil
        self.init(.minew, level: body[2], temperature: temperature)
    }

    /// The sensor frame of KKM and BlueCharm in Eddystone's service data (github.com/theengs/decoder, `BC08`, `KKM_K6P`, `KKM_K9`):
    /// 0x21, 0x01, and bits for what follows, all of it big endian: voltage, temperature (8.8 fixed point, signed), humidity,
    /// acceleration on three axes. A frame with other bits is not read.
    init(kkm body: Span<UInt8>) {
        guard body.count > 2, body[0] == 0x21, body[1] == 0x01, body[2] & 0x01 != 0, body[2] & 0xf0 == 0 else {
            self = .other
            return
        }
        let hasTemperature = body[2] & 0x02 != 0
        let humidity = body[2] & 0x04 != 0 ? 2 : 0
        let acceleration = body[2] & 0x08 != 0 ? 6 : 0
        guard body.count == 5 + (hasTemperature ? 2 : 0) + humidity + acceleration else {
            self = .inexact
            return
        }
        self.init(
            .eddystone, level: nil, millivolts: body.bigEndian(UInt16.self, at: 3),
            temperature: hasTemperature ? Float(body.bigEndian(Int16.self, at: 5)) / 256 : nil)
    }

    /// The models of Feasycom that send the frame.
    private static let feasycomModels: InlineArray<11, UInt8> = [
        0x15, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x24, 0x27, 0x28, 0x29,
    ]

    /// Feasycom (github.com/theengs/decoder, `FEASY`): model, three bytes, address (6), level; 101: plugged in. Others use this
    /// service for themselves, so that anything else is no frame of Feasycom.
    init(feasycom body: Span<UInt8>) {
        guard body.count == 11, Self.feasycomModels.indices.contains(where: { Self.feasycomModels[$0] == body[0] })
        else {
            self = .other
            return
        }
        self.init(.feasycom, level: body[10] == 101 ? nil : body[10])
    }

    /// Holyiot (github.com/custom-components/ble_monitor, `holyiot.py`): 0x41, level, address (6), two bytes, the kind of the value,
    /// the value (2). Of kind 1 it is the temperature: whole degrees, signed, and hundredths that go further from 0.
    /// From -0.99 to -0.01 °C the whole degrees are 0, which has no sign: the tag sends what it sends above zero, and that is shown.
    init(holyiot body: Span<UInt8>) {
        guard body.count > 0, body[0] == 0x41 else {
            self = .other
            return
        }
        guard body.count == 13 else {
            self = .inexact
            return
        }
        let whole = Float(Int8(bitPattern: body[11]))
        let hundredths = Float(body[12]) / 100
        self.init(
            .holyiot, level: body[1],
            temperature: body[10] == 1 ? (whole < 0 ? whole - hundredths : whole + hundredths) : nil)
    }

    /// Jaalee (github.com/custom-components/ble_monitor, `jaalee.py`): level, address (6), a byte that older tags leave out,
    /// temperature and humidity, as a share of their ranges. The temperature reaches from −45 to 130 °C.
    init(jaalee body: Span<UInt8>, _ format: Telemetry.Format) {
        guard body.count == 11 || body.count == 12 else {
            self = .inexact
            return
        }
        let temperature = Float(body.bigEndian(UInt16.self, at: body.count - 4)) / 65_535 * 175 - 45
        self.init(format, level: body[0], temperature: temperature)
    }

    /// The level of the Battery Service (Assigned Numbers, 3.4; GATT Specification Supplement, Battery Level) as service data.
    init(batteryService body: Span<UInt8>) {
        guard body.count == 1 else {
            self = .other
            return
        }
        self.init(.batteryService, level: body[0])
    }

    /// MOKO (github.com/theengs/decoder, `Mokobeacon`): level, and twelve bytes that end with the acceleration.
    init(moko body: Span<UInt8>) {
        guard body.count == 13 else {
            self = .other
            return
        }
        self.init(.moko, level: body[0])
    }
}
