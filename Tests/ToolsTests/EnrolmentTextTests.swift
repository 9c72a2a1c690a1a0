import Beacon
import Enrolment
import Identities
import System
import Testing

@testable import Tools

/// The words for each end of an enrolment.
@Suite struct EnrolmentTextTests {
    private static let key = IdentityKey(high: 0x0f0e_0d0c_0b0a_0908, low: 0x0706_0504_0302_0100)
    private static let fixed = DeviceAddress(value: 0xc0ff_ee00_0001, isRandom: true)

    static let failures: [(outcome: EnrolmentOutcome, code: ExitCode, text: String)] = [
        (.noKey(fixed), .badData, "regions add 'Kim:mac:C0:FF:EE:00:00:01'"),
        (.noKey(nil), .badData, "scan --all"),
        (.wrongKey, .badData, "nothing is stored"),
        (.timeout(refusals: 0), .unavailable, "no phone has connected within three minutes"),
        (.timeout(refusals: 2), .unavailable, "failed or were refused: 2"),
        (.interrupted, .unavailable, "nothing is left"),
        (.failed("bluetoothd has ended"), .unavailable, "bluetoothd has ended; nothing is stored"),
    ]

    @Test(arguments: failures.indices)
    func `An enrolment that comes to nothing says why, and what to do`(index: Int) {
        let (outcome, code, text) = Self.failures[index]
        let failure = #expect(throws: Failure.self) {
            try EnrolmentText.key(outcome, name: "Kim", pairingStays: false) { _ in }
        }
        #expect(failure?.code == code)
        #expect(failure?.message.contains(text) == true, "\(failure?.message ?? "")")
    }

    @Test func `What is advised is a command line, whatever the phone is called`() {
        let failure = #expect(throws: Failure.self) {
            try EnrolmentText.key(.noKey(Self.fixed), name: "Kim's phone", pairingStays: false) { _ in }
        }
        let command = #"sudo ibeacon-gateway regions add 'Kim'\''s phone:mac:C0:FF:EE:00:00:01'"#
        #expect(failure?.message.hasSuffix(command) == true, "\(failure?.message ?? "")")
    }

    @Test(arguments: [true, false])
    func `A phone that is enrolled gives its key, which is not shown`(isTested: Bool) throws {
        var said: [String] = []
        let key = try EnrolmentText.key(.enrolled(Self.key, isTested: isTested), name: "Kim", pairingStays: false) {
            said.append($0)
        }
        #expect(key == Self.key)
        #expect(said.first?.contains(isTested ? "resolves" : "could not be tested") == true)
        #expect(!said.joined().uppercased().contains("0F0E0D0C"))
    }

    @Test func `Where the pairing stays, nobody is told to forget it on the phone`() throws {
        var said: [String] = []
        _ = try EnrolmentText.key(.enrolled(Self.key, isTested: true), name: "Kim", pairingStays: true) {
            said.append($0)
        }
        #expect(!said.joined().contains("forget"))
        let text = EnrolmentText.progress(.pairingStays("00:AA:01:00:00:01"), isKeyboard: false)
        #expect(text.contains("mac:00:AA:01:00:00:01"))
    }
}
