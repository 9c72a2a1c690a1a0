import Beacon
import Scanning
import Testing

@testable import Tools

/// What `doctor` makes of the adapters after it has listened.
@Suite struct RadioCheckTests {
    @Test func `An adapter whose controller refuses to scan is no well one, whatever the others do`() {
        let well = AdapterStatus(receiver: Receiver(index: 0), name: "hci0")
        var refused = AdapterStatus(receiver: Receiver(index: 1), name: "hci1")
        refused.trouble = "the controller refuses to scan: Command Disallowed (0x0c)"
        let findings = RadioCheck.refusals([well, refused])
        #expect(
            findings.map(\.text) == ["hci1 does not listen: the controller refuses to scan: Command Disallowed (0x0c)"])
        #expect(findings.allSatisfy { !$0.isWell && $0.remedy?.contains("unplug") == true })
        #expect(RadioCheck.refusals([well]).isEmpty)
    }
}
