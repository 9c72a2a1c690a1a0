import TestSupport
import Testing

/// The integration of Home Assistant that is in this repository (`custom_components`).
@Suite struct HomeAssistantIntegrationTests {
    private static let top = GatewayProcess.fixtures.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" }

    /// Its own tests, which need no Home Assistant. Tests/HomeAssistantRooms/test runs it in a real one.
    @Test(arguments: ["protocol", "receivers"])
    func `Its messages are those of a gateway, and come when a gateway's would`(part: String) throws {
        _ = try run("python3", ["-B", "\(Self.top)/Tests/HomeAssistantRooms/test_\(part).py"])
    }

    /// A person reads it before trusting it with a key, and nothing is decided there.
    @Test func `It has at most 400 lines of code`() throws {
        let folder = "\(Self.top)/custom_components/ibeacon_rooms"
        let files = try run("find", [folder, "-name", "*.py"]).split(separator: "\n")
        let lines = try files.map { try run("cat", ["\($0)"]).split(separator: "\n") }.flatMap(\.self)
        let code = lines.filter { !$0.allSatisfy { $0 == " " } }
        #expect(files.count >= 4 && (100...400).contains(code.count))
    }
}
