import ServiceDiscovery
import Testing

@testable import Tools

/// What `doctor` makes of systemd's answer.
@Suite struct ServiceFindingTests {
    private static let unit = "ibeacon-gateway.service"

    @Test(arguments: [
        (UnitQuestion.Answer.state("active"), false, "ibeacon-gateway.service runs", true),
        (.state("reloading"), false, "ibeacon-gateway.service runs", true),
        (.state("inactive"), true, "ibeacon-gateway.service does not run; systemd says: inactive", false),
        (.state("failed"), true, "ibeacon-gateway.service does not run; systemd says: failed", false),
        (.state("activating"), true, "ibeacon-gateway.service does not run; systemd says: activating", false),
        (.unknown("no bus"), true, "ibeacon-gateway.service runs", true),
        (.unknown("no bus"), false, "whether ibeacon-gateway.service runs is not known: no bus", true),
    ])
    func `What systemd says decides, and if it says nothing, whether the service answers`(
        answer: UnitQuestion.Answer, answers: Bool, text: String, isWell: Bool
    ) {
        let finding = ServiceCheck.finding(Self.unit, answer) { answers }
        #expect(finding.text == text)
        #expect(finding.isWell == isWell)
    }
}
