import JSON
import ServiceDiscovery
import System
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

/// What `doctor` finds where systemd says that a service runs, and nothing answers.
@Suite struct SilentServiceTests {
    @Test(arguments: [ExitCode.unavailable, .temporaryFailure])
    func `A service that does not answer is a problem, with why, and with the unit that is started again`(
        code: ExitCode
    ) throws {
        let finding = try #require(
            ServiceCheck.silence("ibeacon-gateway-rooms.service", Failure(code, "5.00 s have passed")))
        #expect(!finding.isWell && finding.text.hasSuffix("runs, and it does not answer: 5.00 s have passed"))
        #expect(finding.remedy?.hasSuffix("sudo systemctl restart ibeacon-gateway-rooms") == true)
    }

    @Test func `Where this user may not ask, nothing is known`() {
        #expect(ServiceCheck.silence("ibeacon-gateway.service", Failure(.noPermission, "no")) == nil)
    }
}

/// What `doctor` repeats of what the running service finds.
@Suite struct RepeatedFindingTests {
    private func findings(_ subject: String, _ level: String = "warning") -> [DoctorFinding] {
        RunningService([
            "brokers": [["state": "connected"]],
            "findings": [
                ["level": .string(level), "subject": .string(subject), "text": "so it is", "cure": "do that"]
            ],
        ]).findings(of: "the service")
    }

    @Test(arguments: ["battery", "unheard", "version"])
    func `What needs care is advice, and all is well meanwhile`(subject: String) {
        let findings = findings(subject)
        #expect(findings.map(\.isWell) == [true, true])
        #expect(findings.last?.text == "the service says: so it is")
        #expect(findings.last?.advice == "do that")
    }

    @Test func `What the service is refused is a problem`() {
        #expect(findings("rights").map(\.isWell) == [false])
    }

    @Test func `What other checks look at, and what is well, is not repeated`() {
        #expect(findings("adapter").count == 1)
        #expect(findings("battery", "ok").count == 1)
    }
}
