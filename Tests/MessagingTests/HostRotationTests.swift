import Testing

@testable import Messaging

@Suite struct HostRotationTests {
    /// Connections and attempts, each with its duration in seconds (nil: not accepted), and the host after each.
    @Test(arguments: [
        ([nil, nil, nil, nil], "bcab"),
        ([3600], "a"),
        // Tried once more, then left.
        ([3600, nil], "ab"),
        // A broker that accepts a login and ends the connection at once is no better than one that is down.
        ([0, 9], "bc"),
        ([nil, 10, 10], "bbb"),
    ])
    func `A host is left when it accepts no connection, or ends one within ten seconds`(
        durations: [Int?], path: String
    ) {
        var hosts = HostRotation(["a", "b", "c"])
        let visited = durations.map { seconds in
            _ = hosts.connectionEnded(after: seconds.map { .seconds($0) })
            return hosts.current
        }
        #expect(visited.joined() == path)
    }

    @Test func `A broker of one host is never left`() {
        var hosts = HostRotation(["a"])
        #expect(hosts.connectionEnded(after: nil) == nil)
        #expect(hosts.current == "a")
    }
}
