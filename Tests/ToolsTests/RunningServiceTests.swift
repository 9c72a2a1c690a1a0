import Configuration
import JSON
import Shell
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

    @Test func `A service that was just started is asked until it knows whether the broker admits it`() throws {
        func settled(_ states: [String?], within patience: Duration) -> (state: RunningService?, asked: Int) {
            var asked = 0
            let service = RunningService.settled(within: patience, pause: .zero) {
                defer { asked += 1 }
                return states[min(asked, states.count - 1)].map {
                    RunningService(["brokers": [["state": .string($0)]]])
                }
            }
            return (service, asked)
        }
        let connected = settled(["connecting", "connecting", "connected"], within: .seconds(600))
        #expect(connected.state?.isConnected == true && connected.asked == 3)
        #expect(settled(["disconnected"], within: .seconds(600)).asked == 1)
        #expect(settled(["offline"], within: .seconds(600)).asked == 1)
        #expect(settled(["connecting"], within: .zero).state?.isConnecting == true)
        #expect(settled(["connecting", nil], within: .seconds(600)).state == nil)
    }

    @Test(
        arguments: [
            (1883, true, true, "Who comes and goes is published on owntracks/user/pi/event."),
            (1883, true, false, "will be published on owntracks/user/pi/event, once the service is connected."),
            (1883, false, true, "once the service runs with these settings."),
            (1883, false, false, "once the service runs with these settings."),
            (0, true, false, "Nothing is published (port 0)"),
        ] as [(Int, Bool, Bool, String)])
    func `setup says that something is published only of a service that it has started and that is connected`(
        port: Int, isStarted: Bool, isConnected: Bool, text: String
    ) throws {
        let settings = Settings(
            configuration: try Configuration(parsing: "{port: \(port)}".utf8, hostName: "pi"), json: [:],
            path: "/nowhere/config.json", stateDirectory: "/nowhere")
        let conclusion = SetupConclusion(
            settings: settings, needsRoomsService: false, isForService: true, isStarted: isStarted)
        let line = conclusion.publication(on: "owntracks/user/pi", isConnected: isConnected)
        #expect(line.contains(text), "\(line)")
    }
}
