import Base
import Beacon
import Identities
import Testing

@testable import Enrolment

/// What happens during an enrolment, and what is done then.
@Suite struct EnrolmentCourseTests {
    typealias Course = EnrolmentCourse

    static let phone = "/org/bluez/hci0/dev_61_44_12_88_D4_23"
    static let other = "/org/bluez/hci0/dev_7A_00_00_00_00_01"
    static let address = DeviceAddress(value: 0x6144_1288_d423, isRandom: true)
    static let key = IdentityKey(high: 0x0f0e_0d0c_0b0a_0908, low: 0x0706_0504_0302_0100)

    static func connected(_ device: String, isIncoming: Bool = true) -> Course.Input {
        .connected(device, address, isIncoming: isIncoming)
    }

    /// Seconds since the beginning, an input, and the effects that it must have.
    typealias Step = (at: Double, input: Course.Input, effects: [Course.Effect])

    /// Until a phone has paired.
    static let pairing: [Step] = [
        (0, .advertised, [.say(.waiting)]),
        (5, connected(phone), [.record(phone), .say(.connected(address))]),
        (9, .paired(phone), [.say(.paired), .readKey(phone)]),
    ]

    static let courses: [(name: String, steps: [Step])] = [
        (
            "a phone pairs, its key is taken, and its bond is removed before the end",
            pairing + [
                (9, .key(key, resolves: true), [.withdraw, .remove(phone)]),
                (10, .removed(phone, failure: nil), [.end(.enrolled(key, isTested: true), left: [])]),
                (11, .paired(phone), []),
            ]
        ),
        (
            "a phone that does not pair by itself is asked to, once",
            [
                (0, .advertised, [.say(.waiting)]), (5, connected(phone), [.record(phone), .say(.connected(address))]),
                (5.9, .tick, []), (6, .tick, [.pair(phone)]), (7, .tick, []),
            ]
        ),
        (
            "a connection that may be of another program is not asked",
            [
                (0, .advertised, [.say(.waiting)]),
                (5, connected(phone, isIncoming: false), [.record(phone), .say(.connected(address))]), (6, .tick, []),
            ]
        ),
        (
            "a key that comes late is read again",
            pairing + [
                (9, .key(nil, resolves: nil), []), (9.5, .tick, [.readKey(phone)]),
                (9.5, .key(key, resolves: true), [.withdraw, .remove(phone)]),
            ]
        ),
        (
            "a device that gives no key has a fixed address",
            pairing + [
                (9, .key(nil, resolves: nil), []), (14, .tick, [.readKey(phone)]),
                (14, .key(nil, resolves: nil), [.withdraw, .remove(phone)]),
                (14, .removed(phone, failure: nil), [.end(.noKey(address), left: [])]),
            ]
        ),
        (
            "a key that does not resolve the phone's address is not kept",
            pairing + [
                (9, .key(key, resolves: false), [.withdraw, .remove(phone)]),
                (9, .removed(phone, failure: nil), [.end(.wrongKey, left: [])]),
            ]
        ),
        (
            "a key that cannot be tested is kept, and that is said",
            pairing + [
                (9, .key(key, resolves: nil), [.withdraw, .remove(phone)]),
                (9, .removed(phone, failure: nil), [.end(.enrolled(key, isTested: false), left: [])]),
            ]
        ),
        (
            "a refusal is told, and the phone may try again until the time is over",
            [
                (0, .advertised, [.say(.waiting)]), (5, connected(phone), [.record(phone), .say(.connected(address))]),
                (8, .refused(phone, reason: "no"), [.say(.refused("no"))]), (8, .disconnected(phone), []),
                (9, connected(phone), [.record(phone), .say(.connected(address))]),
                (10, .disconnected(phone), [.say(.left)]), (179, .tick, []),
                (180, .tick, [.withdraw, .end(.timeout(refusals: 2), left: [])]),
            ]
        ),
        (
            "without a phone it ends after three minutes",
            [
                (0, .advertised, [.say(.waiting)]), (179.9, .tick, []),
                (180, .tick, [.withdraw, .end(.timeout(refusals: 0), left: [])]),
            ]
        ),
        (
            "a phone that is still connected at the end is disconnected",
            [
                (0, .advertised, [.say(.waiting)]), (5, connected(phone), [.record(phone), .say(.connected(address))]),
                (6, .tick, [.pair(phone)]), (180, .tick, [.withdraw, .remove(phone)]),
                (181, .removed(phone, failure: nil), [.end(.timeout(refusals: 0), left: [])]),
            ]
        ),
        (
            "the first phone that pairs is enrolled, and a second one leaves no bond",
            [
                (0, .advertised, [.say(.waiting)]), (5, connected(phone), [.record(phone), .say(.connected(address))]),
                (5, connected(other), [.record(other), .say(.connected(address))]),
                (9, .paired(phone), [.say(.paired), .readKey(phone)]), (9, .paired(other), []),
                (9, .key(key, resolves: true), [.withdraw, .remove(phone), .remove(other)]),
                (9, .removed(phone, failure: nil), []),
                (9, .removed(other, failure: nil), [.end(.enrolled(key, isTested: true), left: [])]),
            ]
        ),
        (
            "a phone that pairs again while its bond is removed is removed again",
            pairing + [
                (9, connected(other), []), (9, .key(key, resolves: true), [.withdraw, .remove(phone)]),
                (9, .paired(phone), []), (9, .paired(other), []),
                (9, .removed(phone, failure: nil), [.end(.enrolled(key, isTested: true), left: [])]),
            ]
        ),
        (
            "a bond that cannot be removed is told",
            pairing + [
                (9, .key(key, resolves: true), [.withdraw, .remove(phone)]),
                (9, .removed(phone, failure: "busy"), [.end(.enrolled(key, isTested: true), left: ["busy"])]),
            ]
        ),
        (
            "bluetoothd that does not answer cannot hold the end up",
            pairing + [
                (9, .key(key, resolves: true), [.withdraw, .remove(phone)]), (18, .tick, []),
                (
                    19, .tick,
                    [.end(.enrolled(key, isTested: true), left: ["\(phone): bluetoothd does not answer"])]
                ),
            ]
        ),
        (
            "bluetoothd that ends while a bond is removed ends the enrolment",
            pairing + [
                (9, .key(key, resolves: true), [.withdraw, .remove(phone)]),
                (9, .failed("gone"), [.end(.enrolled(key, isTested: true), left: ["\(phone): gone"])]),
            ]
        ),
        (
            "an interruption undoes everything",
            pairing + [
                (9, .interrupted, [.withdraw, .remove(phone)]), (9, .interrupted, []),
                (9, .removed(phone, failure: nil), [.end(.interrupted, left: [])]),
            ]
        ),
        (
            "what fails before anything is on the air ends at once",
            [(0, .failed("no adapter"), [.withdraw, .end(.failed("no adapter"), left: [])]), (1, .advertised, [])]
        ),
        (
            "bluetoothd that never answers is told",
            [(180, .tick, [.withdraw, .end(.failed("bluetoothd does not answer"), left: [])])]
        ),
        (
            "a device that pairs without having connected to this machine is of another program",
            [(0, .advertised, [.say(.waiting)]), (5, .paired(phone), []), (5, .disconnected(phone), [])]
        ),
    ]

    @Test(arguments: courses.indices)
    func `Each course ends as it must`(index: Int) {
        let (name, steps) = Self.courses[index]
        var course = Course(at: .zero, with: "bluetoothd")
        for (number, step) in steps.enumerated() {
            let effects = course.handle(step.input, at: MonotonicInstant.zero.advanced(by: .seconds(step.at)))
            #expect(effects == step.effects, "\(name), step \(number)")
        }
    }

    @Test func `A device may pair only while none has paired`() {
        var course = Course(at: .zero, with: "bluetoothd")
        #expect(!course.allows(Self.phone))
        _ = course.handle(.advertised, at: .zero)
        #expect(!course.allows(Self.phone))
        _ = course.handle(Self.connected(Self.phone), at: .zero)
        _ = course.handle(Self.connected(Self.other), at: .zero)
        #expect(course.allows(Self.phone))
        _ = course.handle(.paired(Self.phone), at: .zero)
        #expect(!course.allows(Self.other))
    }

    @Test func `A flood of devices is bounded`() {
        var course = Course(at: .zero, with: "bluetoothd")
        _ = course.handle(.advertised, at: .zero)
        let recorded = (0..<1000).flatMap { number in
            course.handle(Self.connected("/org/bluez/hci0/dev_\(number)"), at: .zero)
        }
        #expect(recorded.count == 2 * Course.mostCandidates)
    }

    @Test func `Each moment with something due is announced`() {
        var course = Course(at: .zero, with: "bluetoothd")
        #expect(course.nextDeadline == MonotonicInstant.zero.advanced(by: Course.duration))
        _ = course.handle(.advertised, at: .zero)
        _ = course.handle(Self.connected(Self.phone), at: .zero)
        #expect(course.nextDeadline == MonotonicInstant.zero.advanced(by: Course.patience))
        _ = course.handle(.paired(Self.phone), at: .zero)
        #expect(course.nextDeadline == MonotonicInstant.zero.advanced(by: Course.keyInterval))
        _ = course.handle(.key(Self.key, resolves: true), at: .zero)
        #expect(course.nextDeadline == MonotonicInstant.zero.advanced(by: Course.removalTimeout))
        _ = course.handle(.removed(Self.phone, failure: nil), at: .zero)
        #expect(course.nextDeadline == nil)
    }
}

/// What is read from files.
@Suite struct EnrolmentFileTests {
    @Test(
        arguments: [
            ("[LinkKey]\nKey=00112233445566778899AABBCCDDEEFF\n", nil),
            ("[IdentityResolvingKey]\nKey=000102030405060708090A0B0C0D0E0F\n", "0F0E0D0C0B0A09080706050403020100"),
            (
                "[General]\nName=Key=x\n\n[IdentityResolvingKey]\r\nKey=000102030405060708090A0B0C0D0E0F",
                "0F0E0D0C0B0A09080706050403020100"
            ),
            ("[IdentityResolvingKey]\nOther=1\n[LongTermKey]\nKey=000102030405060708090A0B0C0D0E0F\n", nil),
            ("[IdentityResolvingKey]\nKey=00010203\n", nil),
            ("[IdentityResolvingKey]\nKey=00000000000000000000000000000000\n", nil),
            ("", nil),
        ] as [(String, String?)])
    func `The key is taken from its section, in the order of the specification`(text: String, digits: String?) {
        #expect(BondFile.identityKey(in: Array(text.utf8))?.digits == digits)
    }

    @Test func `A record is read as it was written, and nothing else is taken from it`() {
        var record = EnrolmentRecord()
        record.devices = ["/org/bluez/hci0/dev_61_44_12_88_D4_23"]
        record.unpairable = ["/org/bluez/hci1"]
        #expect(EnrolmentRecord(parsing: record.bytes) == record)
        #expect(EnrolmentRecord(parsing: Array("device /etc\n\u{0}\nx y z\ndevice\n".utf8)).isEmpty)
    }
}
