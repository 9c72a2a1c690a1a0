import Glibc
import TestSupport
import Testing

/// Files that another user, or a mistake, put where the program reads or writes.
@Suite struct HostileFileTests {
    /// Runs a line of shell; `$PROGRAM` is the program with its configuration and state.
    ///
    /// - Returns: the exit status, and what went to standard error.
    private static func shell(_ line: String, _ gateway: GatewayProcess) throws -> (status: Int32, errors: String) {
        let words = ([try GatewayProcess.program] + gateway.arguments).map { "'\($0)'" }.joined(separator: " ")
        let output = gateway.directory.file("shell.output")
        unlink(output)
        let script = "PROGRAM() { \(words) \"$@\"; }\ncd '\(gateway.directory.path)'\n\(line)"
        // dash runs what stands behind a function's redirection in the shell itself, so that $? is the program's.
        let status = try ChildProcess("bash", ["-c", script], output: output).wait()
        return (status, String(decoding: try gateway.directory.read("shell.output"), as: UTF8.self))
    }

    private static func kind(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : 0
    }

    private static let region = "Keys:CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:7"

    // MARK: The state directory

    @Test(arguments: ["regions list", "regions add '\(region)'", "history", "scan --duration 1", "status --token"])
    func `A state that is a symbolic link is not followed`(command: String) throws {
        let gateway = try GatewayProcess(GatewayFixture.quiet, port: 0)
        let state = gateway.directory.file("state")
        mkdir(state, 0o700)
        // An empty file is the one that SQLite would take for a new database.
        try gateway.directory.write("", to: "victim")
        let name = command.hasSuffix("--token") ? "status-token" : "state.db"
        symlink(gateway.directory.file("victim"), "\(state)/\(name)")
        let (status, errors) = try Self.shell("PROGRAM \(command)", gateway)
        #expect(try gateway.directory.read("victim").isEmpty)
        // A scan shows who is near without the regions.
        if !command.hasPrefix("scan") {
            #expect(status == 74 || status == 77, "\(status) \(errors)")
            #expect(errors.contains("\(state)/\(name) is a symbolic link"), "\(errors)")
        }
    }

    @Test func `A service whose state is a symbolic link says so and does not write through it`() throws {
        let gateway = try GatewayProcess(GatewayFixture.quiet, port: 0)
        let state = gateway.directory.file("state")
        mkdir(state, 0o700)
        try gateway.directory.write("", to: "victim")
        symlink(gateway.directory.file("victim"), "\(state)/state.db")
        try gateway.start()
        #expect(gateway.says("state.db is a symbolic link"), "\(gateway.log)")
        gateway.kill()
        #expect(try gateway.directory.read("victim").isEmpty)
    }

    @Test func `A state directory may be reached by a symbolic link`() throws {
        let gateway = try GatewayProcess(GatewayFixture.quiet, port: 0)
        mkdir(gateway.directory.file("elsewhere"), 0o700)
        symlink("elsewhere", gateway.directory.file("state"))
        _ = try gateway.ask("regions", "add", Self.region)
        #expect(try gateway.ask("regions", "list").contains("Keys"))
        #expect(Self.kind(gateway.directory.file("elsewhere/state.db")) == S_IFREG)
    }

    // MARK: Writing where a person says

    @Test func `An export onto a link to a device writes to the device and leaves both`() throws {
        let gateway = try GatewayProcess("", port: 0)
        symlink("/dev/full", gateway.directory.file("link"))
        let (status, errors) = try Self.shell("PROGRAM regions export link", gateway)
        #expect(status == 74)
        #expect(errors.contains("cannot write link: No space left on device"), "\(errors)")
        #expect(Self.kind(gateway.directory.file("link")) == S_IFLNK)
    }

    @Test func `An export onto a FIFO gives its reader the regions`() throws {
        let gateway = try GatewayProcess("", port: 0)
        _ = try gateway.ask("regions", "add", Self.region)
        let (status, output) = try Self.shell(
            "mkfifo fifo; timeout 180 cat fifo & PROGRAM regions export fifo; code=$?; wait; exit $code", gateway)
        #expect(status == 0)
        #expect(output.contains("Keys"))
        #expect(Self.kind(gateway.directory.file("fifo")) == S_IFIFO)
    }

    @Test func `An export over a file keeps its mode`() throws {
        let gateway = try GatewayProcess("", port: 0)
        try gateway.directory.write("old", to: "home.otrw")
        _ = try gateway.ask("regions", "export", gateway.directory.file("home.otrw"))
        var status = stat()
        #expect(stat(gateway.directory.file("home.otrw"), &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o600)
    }

    @Test func `A recording onto a FIFO gives its reader the reports`() throws {
        let gateway = try GatewayProcess(GatewayFixture.stay, port: 0)
        let (status, output) = try Self.shell(
            "mkfifo fifo; timeout 180 head -c 7 fifo & PROGRAM scan --duration 1 --write fifo >list; wait", gateway)
        #expect(status == 0)
        #expect(output.contains("btsnoop"), "\(output)")
        #expect(Self.kind(gateway.directory.file("fifo")) == S_IFIFO)
    }

    @Test func `A recording over a file keeps its mode`() throws {
        let gateway = try GatewayProcess(GatewayFixture.stay, port: 0)
        try gateway.directory.write("old", to: "walk.btsnoop")
        chmod(gateway.directory.file("walk.btsnoop"), 0o640)
        _ = try gateway.ask("scan", "--duration", "1", "--write", gateway.directory.file("walk.btsnoop"))
        var status = stat()
        #expect(stat(gateway.directory.file("walk.btsnoop"), &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o640)
    }

    @Test func `A time that is refused leaves the recording that is there`() throws {
        let gateway = try GatewayProcess(GatewayFixture.stay, port: 0)
        try gateway.directory.write("old", to: "walk.btsnoop")
        #expect(throws: SupportError.self) {
            try gateway.ask("scan", "--duration", "60s", "--write", gateway.directory.file("walk.btsnoop"))
        }
        #expect(try gateway.directory.read("walk.btsnoop") == Array("old".utf8))
    }

    @Test func `A recording is written each second, and a session that is lost ends it in order`() throws {
        let gateway = try GatewayProcess(GatewayFixture.stay, port: 0)
        let file = gateway.directory.file("walk.btsnoop")
        let scan = try ChildProcess(
            try GatewayProcess.program, gateway.arguments + ["scan", "--write", file],
            output: gateway.directory.file("shown"))
        let size = { (try? gateway.directory.read("walk.btsnoop").count) ?? 0 }
        #expect(eventually { size() > 16 }, "more than the header")
        scan.send(SIGHUP)
        #expect(scan.wait() == 0)
        #expect(String(decoding: try gateway.directory.read("shown"), as: UTF8.self).contains("BEACON"))
    }

    @Test func `Setup does not put a file in the place of a FIFO`() throws {
        let gateway = try GatewayProcess("", port: 0)
        let (status, errors) = try Self.shell(
            "rm config.json; mkfifo config.json; timeout 180 '\(try GatewayProcess.program)' --config config.json "
                + "--state-dir state setup --yes --force --host localhost --port 0 --room Kitchen", gateway)
        #expect(status == 73, "\(errors)")
        #expect(errors.contains("is not a regular file"), "\(errors)")
        #expect(Self.kind(gateway.directory.file("config.json")) == S_IFIFO)
        #expect(Self.kind(gateway.directory.file("config.json.old")) == 0)
    }

    // MARK: Standard output

    enum Sink: String, CaseIterable {
        case full = ">/dev/full"
        case closed = ">&-"
        /// The first page of the shell's own memory is never mapped.
        case inputOutputError = "1>&5"

        var reason: String {
            switch self {
            case .full: "No space left on device"
            case .closed: "Bad file descriptor"
            case .inputOutputError: "Input/output error"
            }
        }
    }

    private static let printing = [
        "history", "history --csv", "regions list", "regions export -", "config default", "config show", "--version",
        "--help", "completion bash", "replay '\(GatewayProcess.fixtures)/demo.btsnoop'", "scan --duration 1",
        "scan --duration 1 --json --write -",
    ]

    @Test(arguments: printing, Sink.allCases)
    func `Output that cannot be written is said and ends with 74`(command: String, sink: Sink) throws {
        let gateway = try GatewayProcess(
            "\(GatewayFixture.stay), waypoints: [\(GatewayFixture.waypoint("k", "Kitchen"))]", port: 0)
        let (status, errors) = try Self.shell("exec 5>/proc/$$/mem; PROGRAM \(command) \(sink.rawValue)", gateway)
        #expect(status == 74, "\(status) \(errors)")
        #expect(errors.contains(sink.reason), "\(errors)")
    }

    @Test(arguments: printing)
    func `A closed pipe ends the program quietly by SIGPIPE`(command: String) throws {
        let gateway = try GatewayProcess(
            "\(GatewayFixture.stay), waypoints: [\(GatewayFixture.waypoint("k", "Kitchen"))]", port: 0)
        // Descriptor 4 writes to a FIFO whose only reader is closed before the program starts.
        let (status, errors) = try Self.shell(
            "mkfifo pipe; exec 3<>pipe; exec 4>pipe; exec 3>&-; PROGRAM --quiet \(command) >&4", gateway)
        #expect(status == 128 + SIGPIPE, "\(status) \(errors)")
        #expect(errors.isEmpty, "\(errors)")
    }

    @Test func `A closed standard output is not taken for the state`() throws {
        let gateway = try GatewayProcess("", port: 0)
        #expect(try Self.shell("PROGRAM regions add '\(Self.region)' >&- 2>&- <&-", gateway).status == 74)
        #expect(try gateway.ask("regions", "list").contains("Keys"))
    }

    // MARK: What the service reads

    @Test func `A FIFO as configuration does not hold up the service, and SIGTERM ends it`() throws {
        let gateway = try GatewayProcess(GatewayFixture.quiet, port: 0)
        try gateway.start()
        #expect(gateway.says("is running"), "\(gateway.log)")
        let path = gateway.directory.file("config.json")
        unlink(path)
        mkfifo(path, 0o600)
        gateway.process?.send(SIGHUP)
        #expect(gateway.says("config.json: it is not a regular file; the old settings stay in force"), "\(gateway.log)")
        gateway.process?.send(SIGTERM)
        #expect(gateway.ends() == 0)
    }

    @Test(arguments: ["status-token", "password", "ca", "capture"])
    func `A FIFO that the configuration or the state names does not hold up the start`(name: String) throws {
        let page = try LoopbackPort.free()
        let gateway = try GatewayProcess("", port: 0)
        mkdir(gateway.directory.file("state"), 0o700)
        let fifo = gateway.directory.file(name == "status-token" ? "state/status-token" : name)
        mkfifo(fifo, 0o600)
        switch name {
        case "status-token":
            try gateway.configure(GatewayFixture.quiet, port: 0, http: "{listen: \"127.0.0.1:\(page)\"}")
        case "password": try gateway.configure("passwordFile: \"\(fifo)\", \(GatewayFixture.quiet)", port: 0)
        case "ca": try gateway.configure("tls: true, caFile: \"\(fifo)\", \(GatewayFixture.quiet)", port: 1)
        default: try gateway.configure("scanner: {capture: \"\(fifo)\"}", port: 0)
        }
        try gateway.start()
        #expect(gateway.says(fifo.split(separator: "/").last.map(String.init) ?? name), "\(gateway.log)")
        #expect(
            eventually {
                gateway.log.contains("not a regular file") || gateway.log.contains("is a pipe or a device")
            }, "\(gateway.log)")
        gateway.process?.send(SIGTERM)
        #expect(gateway.ends() != nil)
    }
}
