import FoundationEssentials
import TestSupport
import Testing

/// Whoever types the name of a script learns how it is used and what it needs, before it does anything.
@Suite struct ScriptOptionsTests {
    private static let top = GatewayProcess.fixtures.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" }

    /// Executable files that are nobody's to call, and why.
    private static let excluded = [
        "Tests/VirtualHost/deployment/machine": "runs a command within the virtual machine",
        "Tests/VirtualHost/deployment/systemctl": "stands in for another program within the virtual machine",
        "Tests/VirtualHost/guest/init": "process 1 of the virtual host",
        "debian/postinst": "dpkg calls it",
        "debian/prerm": "dpkg calls it",
        "debian/rules": "debhelper calls it",
    ]

    /// What changes the machine, needs the network, or takes long. None of it is called before the options are read.
    private static let refused = [
        "apt", "apt-get", "cc", "chroot", "cp", "curl", "dpkg-deb", "dpkg-query", "gcc", "git", "install", "make",
        "mkdir",
        "mktemp", "mmdebstrap", "mosquitto", "mount", "mv", "pip", "podman", "rm", "strip", "sudo", "swift", "swiftc",
        "tar",
        "touch", "unshare", "valgrind", "wget",
    ]

    /// The executable files of the repository; a tree without git is searched.
    private static func executables() throws -> [String] {
        if let index = try? run("git", ["-C", top, "ls-files", "--stage"]) {
            return index.split(separator: "\n").filter { $0.hasPrefix("100755") }.compactMap {
                $0.split(separator: "\t").last.map(String.init)
            }
        }
        let hidden = ["(", "-name", ".build", "-o", "-name", ".git", "-o", "-name", ".cache", ")", "-prune"]
        let files = try run("find", [top] + hidden + ["-o", "-type", "f", "-perm", "-u+x", "-print"])
        return files.split(separator: "\n").map { String($0.dropFirst(top.count + 1)) }
    }

    /// As they are typed, the parts of `Scripts/test-release` among them.
    private static func scripts() throws -> [String] {
        let parts = try run("ls", ["\(top)/Scripts/release-tests"]).split(separator: "\n").map {
            "Scripts/test-release \($0)"
        }
        return try (executables().filter { excluded[$0] == nil } + parts).sorted()
    }

    private static func text(of script: String) throws -> String {
        let path = script.replacing("Scripts/test-release ", with: "Scripts/release-tests/")
        return try String(contentsOfFile: "\(top)/\(path)", encoding: .utf8)
    }

    /// What a script printed and how it ended, in an empty folder, where it can call nothing of what is refused.
    private static func call(_ script: String, _ option: String) throws -> (output: String, status: Int32) {
        let directory = try TemporaryDirectory()
        try run("mkdir", [directory.file("programs"), directory.file("here")])
        for name in refused {
            let stub = "#!/bin/sh\necho \"$0 $*\" >>\(directory.file("called"))\nexit 99\n"
            try run("chmod", ["+x", try directory.write(stub, to: "programs/\(name)")])
        }
        let path = "PATH=\(directory.file("programs")):/usr/sbin:/usr/bin:/sbin:/bin"
        let here = directory.file("here")
        let process = try ChildProcess(
            "env",
            ["-C", here, path, "HOME=\(here)", "timeout", "60"]
                + "\(top)/\(script) \(option)".split(separator: " ").map(String.init),
            output: directory.file("output"))
        let status = process.wait()
        #expect((try? directory.read("called")) == nil, "\(script) \(option) calls what it must not call")
        #expect(try run("ls", ["-A", here]) == "", "\(script) \(option) leaves something behind")
        return (String(decoding: try directory.read("output"), as: UTF8.self), status)
    }

    @Test(arguments: try scripts())
    func `A script says how it is used and what it needs, and does nothing`(_ script: String) throws {
        let (output, status) = try Self.call(script, "--help")
        #expect(status == 0, "\(output)")
        #expect(output.contains("usage: \(script)"))
        #expect(output.contains("\nNeeds: "))
    }

    @Test(arguments: try scripts())
    func `A script refuses an option that it does not have, and does nothing`(_ script: String) throws {
        let (output, status) = try Self.call(script, "--no-such-option")
        #expect(status == 64, "\(output)")
        #expect(output.contains("'--no-such-option'"), "\(output)")
        #expect(output.contains("see \(script) --help"), "\(output)")
    }

    /// argparse lists the options of scripts in Python by itself.
    @Test(arguments: try scripts())
    func `The help of a script names every option that it reads`(_ script: String) throws {
        let text = try Self.text(of: script)
        guard text.hasPrefix("#!/bin/bash\n") else { return }
        let lines = text.split(separator: "\n")
        let help = Set(
            lines.prefix { $0.hasPrefix("#") }.joined(separator: " ").split { !$0.isLetter && $0 != "-" }.map(
                String.init))
        let reading = try #require(lines.first { $0.hasPrefix("read_options \"") || $0.hasPrefix("read_target \"") })
        let wordsRead = reading.replacing("$target_options", with: "--arch --release").split { " \"=".contains($0) }
        let inherited = reading.hasPrefix("read_target") ? ["--arch", "--release"] : []
        for option in wordsRead.map(String.init).filter({ $0.hasPrefix("--") }) + inherited {
            #expect(help.contains(option), "\(script) --help does not name \(option)")
        }
    }

    @Test func `What is executable and nobody's to call is named, and there`() throws {
        let executables = try Self.executables()
        #expect(executables.count > 50)
        #expect(
            Set(["Scripts/test", ".ci/run", "Benchmarks/gate", "Tests/VirtualHost/run"]).subtracting(executables) == [])
        #expect(Set(Self.excluded.keys).subtracting(executables) == [])
    }
}
