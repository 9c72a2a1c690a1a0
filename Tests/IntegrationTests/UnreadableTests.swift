import Glibc
import TestSupport
import Testing

/// Commands of a user who may not read the configuration or the state: they do not answer as if there was nothing.
@Suite struct UnreadableTests {
    /// A configuration and a state, each in a directory of its own.
    private struct Place {
        let directory: TemporaryDirectory
        var configuration: String { directory.file("etc/config.json") }
        var state: String { directory.file("state") }

        init() throws {
            directory = try TemporaryDirectory()
            mkdir(directory.file("etc"), 0o755)
            mkdir(directory.file("state"), 0o755)
            chmod(directory.path, 0o755)
            try directory.write(#"{_type: "configuration", username: "jane", port: 0}"#, to: "etc/config.json")
            chmod(configuration, 0o644)
        }

        /// The exit code of a command of a user who is not root, and what it says.
        func run(_ words: [String]) throws -> (code: Int32, text: String) {
            var command = [try GatewayProcess.program, "--config", configuration, "--state-dir", state] + words
            if geteuid() == 0 {
                command = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + command
            }
            let process = try ChildProcess(command[0], Array(command.dropFirst()), output: directory.file("said"))
            let code = process.wait()
            return (code, String(decoding: try directory.read("said"), as: UTF8.self))
        }
    }

    private static let readers = [
        ["phones", "list"], ["phones", "test", "Jane"], ["phones", "export", "-"], ["phones", "remove", "Jane"],
        ["regions", "list"], ["regions", "show", "k"], ["regions", "export"], ["regions", "remove", "k"], ["history"],
        ["history", "--gpx"], ["history", "--csv"], ["rooms", "history"], ["rooms", "tags", "list"],
        ["status", "--token"],
        ["report"],
    ]

    @Test(arguments: readers)
    func `A state that this user may not read is no empty state`(words: [String]) throws {
        let place = try Place()
        chmod(place.state, 0)
        defer { chmod(place.state, 0o755) }
        let (code, text) = try place.run(words)
        #expect(code == 77, "\(words): \(code) \(text)")
        #expect(!text.contains("none yet") && !text.contains("nothing happened"), "\(text)")
    }

    @Test(arguments: readers + [["config", "check"], ["config", "show"], ["status"], ["scan"], ["rooms", "status"]])
    func `A configuration that this user may not read is named, and not replaced by the defaults`(words: [String])
        throws
    {
        let place = try Place()
        chmod(place.directory.file("etc"), 0)
        defer { chmod(place.directory.file("etc"), 0o755) }
        let (code, text) = try place.run(words)
        #expect(code == 77, "\(words): \(code) \(text)")
        #expect(text.contains("config.json"), "\(text)")
    }

    @Test(arguments: ["phone-keys", "status-token"])
    func `A file in the state that this user may not read is no missing file`(name: String) throws {
        let place = try Place()
        chmod(place.state, 0o777)
        try place.directory.write("x", to: "state/\(name)")
        chmod(place.directory.file("state/\(name)"), 0o600)
        // For a user of its own, who is not root, this is a file of another.
        guard geteuid() == 0 else { return }
        let (code, text) = try place.run(name == "phone-keys" ? ["phones", "list"] : ["status", "--token"])
        #expect(code == 77, "\(code) \(text)")
    }

    @Test(arguments: [["phones", "list"], ["regions", "list"], ["history"], ["config", "check"]])
    func `A state that is not there yet is an empty one`(words: [String]) throws {
        let place = try Place()
        rmdir(place.state)
        let (code, text) = try place.run(words)
        #expect(code == 0, "\(text)")
    }
}
