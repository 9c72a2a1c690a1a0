import Glibc
import TestSupport
import Testing

@testable import Tools

/// The script that a card runs on its machine, with programs in the place of the machine's that say what a case wants.
@Suite struct FirstBootTests {
    private let directory: TemporaryDirectory
    private static let secrets = ["the-password", "the-site-key", "the-wifi-password"]

    init() throws {
        directory = try TemporaryDirectory()
        let folders = [
            "bin", "boot/firmware", "etc/ibeacon-gateway", "etc/apt/sources.list.d", "var/lib/cloud/instance",
        ]
        try run("mkdir", ["-p"] + (folders + ["usr/local/lib/ibeacon-gateway-card"]).map(directory.file))
        try directory.write(FirstBoot.script, to: "first-boot")
        try directory.write("#cloud-config\n# the-password the-site-key\n", to: "boot/firmware/user-data")
        try directory.write("# the-wifi-password\n", to: "boot/firmware/network-config")
        for file in ["user-data", "network-config"] {
            try directory.write("#cloud-config\n# moved\n", to: "usr/local/lib/ibeacon-gateway-card/\(file)")
        }
        try directory.write("URIs: https://apt.example\n", to: "etc/apt/sources.list.d/ibeacon-gateway.sources")
        try directory.write("the-password\n", to: "etc/ibeacon-gateway/password")
        try directory.write("", to: "var/lib/cloud/instance/boot-finished")
        for name in ["sync", "hostname", "systemctl", "chown", "apt-get", "dpkg-query", "ip", "ibeacon-gateway"] {
            try program(name, "")
        }
        try program("ip", "echo default via 192.0.2.1")
        try program("hostname", "echo kitchen")
    }

    /// A program of the machine. What it is called with is kept.
    private func program(_ name: String, _ body: String) throws {
        try directory.write(
            "#!/bin/sh\necho \"\(name) $*\" >>'\(directory.file("calls"))'\n\(body)\n", to: "bin/\(name)")
        chmod(directory.file("bin/\(name)"), 0o700)
    }

    /// dpkg knows the package after apt has installed it.
    private func installs(_ doctor: String) throws {
        try program("dpkg-query", "[ ! -e '\(directory.file("installed"))' ] || printf installed")
        try program("apt-get", "case $* in *install*) touch '\(directory.file("installed"))' ;; esac")
        try program("ibeacon-gateway", doctor)
    }

    /// apt fails with a message.
    private func fails(_ message: String) throws { try program("apt-get", "echo '\(message)'; exit 100") }

    private func start() throws -> (code: Int32, said: String) {
        let process = try ChildProcess(
            "env",
            [
                "PATH=\(directory.file("bin")):/usr/bin:/bin", "CARD_ROOT=\(directory.path)", "sh",
                directory.file("first-boot"), "once",
            ],
            output: directory.file("said"))
        let code = process.wait()
        return (code, text("said"))
    }

    private func text(_ name: String) -> String { String(decoding: (try? directory.read(name)) ?? [], as: UTF8.self) }

    private var report: String { text("boot/firmware/ibeacon-gateway.txt") }

    private func hasSecret(_ text: String) -> Bool { Self.secrets.contains { text.contains($0) } }

    @Test func `The package is installed, the service gets its files, and the findings stand on the boot partition`()
        throws
    {
        try installs("echo 'ok   broker  connected'; echo 'all is well'")
        let (code, said) = try start()
        #expect(code == 0, "\(said)")
        #expect(report.hasPrefix("ibeacon-gateway on kitchen, "))
        #expect(report.hasSuffix("\n\nok   broker  connected\nall is well\n"))
        #expect(said.contains("all is well"))
        let calls = text("calls")
        #expect(calls.contains("chown ibeacon-gateway:ibeacon-gateway \(directory.path)/etc/ibeacon-gateway/password"))
        #expect(calls.contains("systemctl restart ibeacon-gateway.service"))
    }

    @Test func `The secrets are off the boot partition when cloud-init has read them, and not before`() throws {
        try installs("echo 'all is well'")
        unlink(directory.file("var/lib/cloud/instance/boot-finished"))
        #expect(try start().code == 1)
        #expect(hasSecret(text("boot/firmware/user-data")))
        try directory.write("", to: "var/lib/cloud/instance/boot-finished")
        let (code, said) = try start()
        #expect(code == 0)
        #expect(!hasSecret(text("boot/firmware/user-data")) && !hasSecret(text("boot/firmware/network-config")))
        #expect(text("boot/firmware/user-data").hasPrefix("#cloud-config\n"))
        #expect(!hasSecret(said) && !hasSecret(report))
    }

    @Test func `The secrets go off the boot partition also where the package cannot be installed`() throws {
        try fails("E: The repository is not signed.")
        #expect(try start().code == 1)
        #expect(!hasSecret(text("boot/firmware/user-data")))
    }

    @Test func `A gateway that is installed is not installed again`() throws {
        try installs("echo 'all is well'")
        try directory.write("", to: "installed")
        #expect(try start().code == 0)
        #expect(!text("calls").contains("apt-get"))
    }

    @Test func `A package that a person has removed is not installed again, unless there is another card`() throws {
        try installs("echo 'all is well'")
        #expect(try start().code == 0)
        unlink(directory.file("installed"))
        unlink(directory.file("calls"))
        let (code, said) = try start()
        #expect(code == 0, "\(said)")
        #expect(!text("calls").contains("apt-get"), "\(text("calls"))")
        #expect(report.hasSuffix("\nTo install it: sudo apt-get install ibeacon-gateway\n"), "\(report)")
        // In an upgrade it is neither installed nor removed.
        try program("dpkg-query", "printf unpacked")
        _ = try start()
        #expect(text("calls").contains("apt-get"))
        // Another card is another instance of cloud-init.
        try installs("echo 'all is well'")
        unlink(directory.file("installed"))
        unlink(directory.file("calls"))
        unlink(directory.file("var/lib/cloud/instance/ibeacon-gateway.installed"))
        #expect(try start().code == 0)
        #expect(text("calls").contains("apt-get"))
    }

    @Test func `What doctor finds wrong stands on the boot partition, and the script goes on`() throws {
        try installs("echo 'BAD  broker  the broker does not accept us: not authorised'; exit 69")
        #expect(try start().code == 1)
        #expect(report.contains("BAD  broker  the broker does not accept us: not authorised"))
    }

    @Test func `Without a network the boot partition says so`() throws {
        try fails("Temporary failure resolving apt.example")
        try program("ip", "case $* in *address*) echo 'lo UNKNOWN 127.0.0.1/8'; echo 'wlan0 DOWN' ;; esac")
        #expect(try start().code == 1)
        #expect(report.contains("BAD  network  there is no network"))
        #expect(report.contains("wlan0 DOWN"))
        #expect(!report.contains("127.0.0.1"))
    }

    static let answers: [(apt: String, finding: String)] = [
        ("W: GPG error: https://apt.example trixie InRelease: NO_PUBKEY 0123", "not signed with the key of this card"),
        ("E: The repository is not signed.", "not signed with the key of this card"),
        (
            "Err:1 Sub-process sqv returned an error: Missing key 8CC, which is needed to verify signature.",
            "not signed with the key"
        ),
        ("E: Release file for https://apt.example is not valid yet", "BAD  clock"),
        ("Err:1 Could not resolve 'apt.example'", "https://apt.example cannot be reached"),
        ("E: Failed to fetch https://apt.example  Could not connect", "https://apt.example cannot be reached"),
        ("E: Unable to locate package ibeacon-gateway", "cannot be installed from https://apt.example"),
    ]

    @Test(arguments: answers) func `What apt refuses has a name, and the line of apt with it`(
        answer: (apt: String, finding: String)
    ) throws {
        try fails(answer.apt.split(separator: "'").joined())
        #expect(try start().code == 1)
        #expect(report.contains(answer.finding), "\(report)")
        #expect(report.contains("     " + answer.apt.prefix(12)))
    }

    @Test func `A machine whose boot partition has no user-data gets no file there`() throws {
        try installs("echo 'all is well'")
        unlink(directory.file("boot/firmware/user-data"))
        #expect(try start().code == 0)
        #expect(report.isEmpty)
    }

    @Test(arguments: [true, false])
    func `Where the system has a question for a user, it is put aside, and elsewhere nothing is`(
        hasQuestion: Bool
    ) throws {
        try program("systemctl", hasQuestion ? "" : "[ $1 != cat ]")
        let words = ["PATH=\(directory.file("bin")):/usr/bin:/bin"] + FirstBoot.answer
        #expect(try ChildProcess("env", words, output: directory.file("said")).wait() == 0)
        #expect(text("calls").contains("mask --now userconfig.service") == hasQuestion)
    }

    @Test func `The script has no mistake that a shell finds`() throws {
        try run("sh", ["-n", directory.file("first-boot")])
    }
}
