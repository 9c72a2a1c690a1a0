import TestSupport
import Testing

/// Which tests `Scripts/changed` says that a change can reach, and which parts of `.ci/run` it touches.
@Suite struct ChangedTests {
    /// A package like this one, as `swift package dump-package` prints it: the name, the kind and the folder of each target, and what
    /// it needs.
    private static let targets: [(name: String, kind: String, folder: String, needs: [String])] = [
        ("Base", "regular", "Sources/Libraries/Base", []),
        ("CSystem", "system", "Sources/C/CSystem", []),
        ("System", "regular", "Sources/Shell/System", ["Base", "CSystem"]),
        ("Gateway", "regular", "Sources/Cores/Gateway", ["Base"]),
        ("Rooms", "regular", "Sources/Site/Rooms", ["Base"]),
        ("Tools", "regular", "Sources/Apps/Tools", ["Gateway", "Rooms", "System"]),
        ("ibeacon-gateway", "executable", "Sources/Apps/ibeacon-gateway", ["Tools"]),
        ("SystemTests", "test", "", ["System"]),
        ("GatewayTests", "test", "", ["Gateway"]),
        ("RoomsTests", "test", "", ["Rooms"]),
        ("ToolsTests", "test", "", ["Tools"]),
        ("ConfigurationTests", "test", "", ["Base"]),
        ("IntegrationTests", "test", "", ["ibeacon-gateway"]),
        ("CFaultyDisk", "regular", "Tests/CFaultyDisk", []),
    ]

    /// What the script prints; without the lines of what is not run if `all` is false.
    private func changed(_ files: [String], _ options: [String] = [], all: Bool = false) throws -> String {
        let targets = Self.targets.map { target in
            let needs = target.needs.map { #"{"byName":["\#($0)",null]}"# }.joined(separator: ",")
            let path = target.folder.isEmpty ? "" : #","path":"\#(target.folder)""#
            return #"{"name":"\#(target.name)","type":"\#(target.kind)","dependencies":[\#(needs)]\#(path)}"#
        }
        let directory = try TemporaryDirectory()
        let graph = try directory.write(#"{"targets":[\#(targets.joined(separator: ","))]}"#, to: "graph")
        let script = "\(GatewayProcess.fixtures)/../../Scripts/changed"
        let said = try run(script, ["--graph", graph] + files.flatMap { ["--file", $0] } + options)
        let isRun = { (line: Substring) in !line.hasPrefix("not reached: ") && !line.hasPrefix("left to Scripts/test: ")
        }
        return said.split(separator: "\n").filter { all || isRun($0) }.map { "\($0)\n" }.joined()
    }

    /// A file that no test names. This suite would, if it had the name in one word.
    private static let unnamed = ["unnamed", "file"].joined(separator: "-")

    /// A file, and the tests that can reach it.
    static let reached: [(file: String, tests: String)] = [
        ("Sources/Cores/Gateway/Gateway.swift", "reached: GatewayTests ToolsTests\n"),
        ("Sources/Site/Rooms/Page/new.js", "reached: RoomsTests ToolsTests\n"),
        ("Sources/C/CSystem/shim.h", "reached: SystemTests ToolsTests\n"),
        ("Sources/Apps/Tools/Command.swift", "reached: ToolsTests\n"),
        ("Tests/GatewayTests/CommandTests.swift", "reached: GatewayTests\n"),
        ("Tests/IntegrationTests/GatewayProcess.swift", "reached: IntegrationTests\n"),
        ("Tests/CFaultyDisk/faulty_disk.c", "reached: IntegrationTests\n"),
        ("Sources/Apps/ibeacon-gateway/main.swift", "reached: IntegrationTests\n"),
        ("Tests/IntegrationTests/DoctorTests.swift", "reached: no target\nreached of IntegrationTests: DoctorTests\n"),
        ("Tests/IntegrationTests/GoneTests.swift", "reached: no target\n"),
        (unnamed, "reached: no target\n"),
    ]

    @Test(arguments: reached)
    func `A test is reached through the targets that it needs, and a suite of the whole program by its own file`(
        file: String, tests: String
    ) throws {
        #expect(try changed([file]) == tests)
    }

    @Test(arguments: [
        ("Docs/rooms.md", ["ConfigurationTests: DocumentedConfigurationTests", " DocumentsTests"]),
        ("Scripts/lib.sh", ["IntegrationTests: ", "OptionReaderTests", "ScriptOptionsTests", "TestRunnerTests"]),
        (".ci/run", ["IntegrationTests: ", "ScriptOptionsTests"]),
        ("README.md", ["IntegrationTests: ", "ReadmeTests"]),
        ("Tests/Fixtures/demo.json", ["IntegrationTests: ", "ReadmeTests"]),
    ])
    func `A file outside of all targets reaches the suites that name its folder`(file: String, suites: [String]) throws
    {
        let said = try changed([file])
        for suite in suites { #expect(said.contains(suite), "\(said)") }
        #expect(!said.contains("EnduranceTests"), "\(said)")
    }

    @Test func `Everything reaches what the manifest says, and all tests of the program what is in it`() throws {
        let all = "ConfigurationTests GatewayTests IntegrationTests RoomsTests SystemTests ToolsTests"
        #expect(try changed(["Package.swift"]) == "reached: \(all)\n")
        let whole = try changed(["Sources/Cores/Gateway/Gateway.swift"], ["--whole"])
        #expect(whole == "reached: GatewayTests IntegrationTests ToolsTests\n")
    }

    @Test func `What is not reached is told in one line, and what is left to the run of everything`() throws {
        let gateway = try changed(["Sources/Cores/Gateway/Gateway.swift"], all: true)
        #expect(gateway.contains("not reached: ConfigurationTests RoomsTests SystemTests\n"), "\(gateway)")
        #expect(gateway.contains("left to Scripts/test: all tests of the program"), "\(gateway)")
        #expect(!gateway.contains("virtual host"), "\(gateway)")
        let radio = try changed(["Tests/VirtualHost/scenarios/14-transitions.sh"], all: true)
        #expect(radio.contains("left to Scripts/test: the scenarios of the virtual host\n"), "\(radio)")
        #expect(!radio.contains("all tests of the program"), "\(radio)")
    }

    @Test func `The build has what the tests need and no more, with what they load`() throws {
        let said = try changed(
            ["Tests/GatewayTests/A.swift", "Tests/IntegrationTests/DoctorTests.swift"], ["--filters"])
        let needed = "Base,CFaultyDisk,CSystem,Gateway,GatewayTests,IntegrationTests,Rooms,System,Tools,ibeacon-gateway"
        #expect(
            said == "build \(needed)\nrun ^GatewayTests[.]\nrun ^IntegrationTests[.](DoctorTests)/\n", "\(said)")
        #expect(try changed([Self.unnamed], ["--filters"]) == "")
    }

    /// A file, and the parts of `.ci/run` that it touches.
    static let parts: [(file: String, parts: [String])] = [
        ("Sources/Radio/KernelScanning/ManagementScanner.swift", ["radio"]),
        ("Sources/Shell/DBus/Connection.swift", ["radio"]),
        ("Tests/VirtualHost/scenarios/14-transitions.sh", ["radio"]),
        ("Sources/Apps/GatewayApp/Links/ScannerLink.swift", ["radio"]),
        ("Sources/Apps/GatewayApp/Links/HTTPLink.swift", []),
        ("Tests/VirtualHost/controller.c", ["radio", "packaging"]),
        ("Tests/VirtualHost/kernel/uml.config", ["radio", "packaging"]),
        ("Tests/VirtualHost/deployment/life/1", ["packaging"]),
        ("Tests/VirtualHost/README.md", []),
        ("systemd/ibeacon-gateway.service", ["packaging"]),
        ("udev/70-ibeacon-gateway.rules", ["packaging"]),
        ("debian/postinst", ["packaging"]),
        ("debian/rules", ["packaging", "arm64"]),
        ("Scripts/package", ["packaging", "arm64"]),
        ("Scripts/cross-build", ["arm64"]),
        ("Scripts/release-tests/deployment", ["packaging"]),
        ("Scripts/release-tests/package", []),
        ("Sources/C/CBluetooth/shim.h", ["radio", "c"]),
        ("Sources/C/CSystem/module.modulemap", ["c"]),
        ("Tests/CFaultVFS/fault_vfs.c", ["c"]),
        ("Tests/CSpawn/module.modulemap", ["c"]),
        ("Tests/ConfigurationTests/ClockTests.swift", []),
        ("Sources/Apps/GatewayApp/Phones/PhoneSite.swift", ["radio"]),
        ("Sources/Cores/Gateway/PhoneBook.swift", ["radio"]),
        ("Sources/Cores/Gateway/Gateway.swift", []),
        ("Docs/scanning.md", []),
    ]

    @Test(arguments: parts)
    func `A part is touched by its files, and by no other`(file: String, parts: [String]) throws {
        let lines = try changed([file], ["--parts"]).split(separator: "\n")
        #expect(lines.map { String($0.prefix { $0 != ":" }) } == parts)
        for line in lines { #expect(line.hasSuffix("because of \(file)")) }
    }

    @Test func `Only the C that has changed is asked which tests reach it`() throws {
        let files = ["Sources/Cores/Gateway/Gateway.swift", "Sources/C/CSystem/shim.h"]
        #expect(try changed(files, ["--of", "c"]) == "reached: SystemTests ToolsTests\n")
    }
}
