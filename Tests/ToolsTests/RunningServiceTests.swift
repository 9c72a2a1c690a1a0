import Configuration
import JSON
import Testing

@testable import Tools

/// What `doctor` takes over from the running service: what no test of its own can show.
@Suite struct RunningServiceTests {
    private func findings(_ subjects: String..., level: String = "warning", state: String = "connected")
        -> [DoctorFinding]
    {
        let findings = subjects.map {
            JSONValue.object(["level": .string(level), "subject": .string($0), "text": "no", "cure": "do"])
        }
        return RunningService(["brokers": [["state": .string(state)]], "findings": .array(findings)]).findings(
            of: "the service")
    }

    @Test(arguments: ["broker", "server", "connection", "rights", "limits", "queue", "page"])
    func `A service that flaps, or is refused something, is not well, with what it advises`(subject: String) throws {
        let found = findings(subject)
        #expect(found.map(\.text) == ["the service says: no"] && found.allSatisfy { !$0.isWell })
        #expect(found.first?.remedy == "do")
    }

    @Test func `What doctor tests itself, and what is well, is not said twice`() {
        #expect(findings("clock", "regions").map(\.text) == ["the service answers, and is refused nothing"])
        #expect(findings("rights", level: "ok").allSatisfy { $0.isWell })
    }

    @Test func `setup names the page unless the running service says that it is not served`() throws {
        let address = ListenAddress.gateway
        func service(_ level: String) -> RunningService {
            RunningService(["findings": [["level": .string(level), "subject": "page", "text": "no", "cure": "do"]]])
        }
        let line = "Its page:    http://127.0.0.1:8080/"
        #expect(SetupConclusion.pageLine(address, service("warning")) == nil)
        #expect(SetupConclusion.pageLine(address, service("ok")) == line)
        #expect(SetupConclusion.pageLine(address, RunningService([:])) == line)
        #expect(SetupConclusion.pageLine(address, nil) == line && SetupConclusion.pageLine(nil, nil) == nil)
    }

    @Test func `Whether the service is connected is what it says of its first broker`() {
        #expect(RunningService(["brokers": [["state": "connected"], ["state": "disconnected"]]]).isConnected)
        #expect(!RunningService(["brokers": [["state": "disconnected"]]]).isConnected)
        #expect(!RunningService([:]).isConnected)
    }
}
