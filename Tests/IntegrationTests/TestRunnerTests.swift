import TestSupport
import Testing

/// What `Scripts/test` says of the tests, with a program in the place of the tests that does what this one says.
@Suite struct TestRunnerTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Lists suites with the tests `first` and `second`, and writes these events when it is asked to run them.
    ///
    /// - Parameters:
    ///   - command: What the shell does between the events and the end.
    ///   - suites: Each with its target.
    private func tests(
        events: [String], status: Int = 0, then command: String = ":", suites: [String] = ["Some.Suite"]
    ) throws -> String {
        let plan = ["first", "second"].map {
            #"{"kind":"test","payload":{"id":"Some.Suite/\#($0)()/File.swift:1:2","kind":"function","name":"\#($0)()"}}"#
        }
        let list = suites.map { #"\#($0)/first()\n\#($0)/second()\n"# }.joined()
        let stream = try directory.write((plan + events).joined(separator: "\n") + "\n", to: "stream")
        let program = try directory.write(
            """
            #!/bin/sh
            for word; do
                case $previous in --event-stream-output-path) output=$word ;; esac
                case $word in --list-tests) printf '\(list)'; exit ;; esac
                previous=$word
            done
            echo "what the tests print"
            cat '\(stream)' >"$output"
            \(command)
            [ \(status) -lt 128 ] || kill -\(status % 128) $$
            exit \(status)

            """, to: "program")
        _ = try run("chmod", ["+x", program])
        return program
    }

    private func event(_ kind: String, _ test: String, at seconds: Int = 0, more: String = "") -> String {
        #"{"kind":"event","payload":{"kind":"\#(kind)","instant":{"absolute":\#(seconds)},"#
            + #""testID":"Some.Suite/\#(test)()/File.swift:1:2"\#(more)}}"#
    }

    private func passes(_ test: String, seconds: Int = 0) -> [String] {
        [event("testStarted", test), event("testEnded", test, at: seconds)]
    }

    private func failure(_ test: String, _ text: String) -> String {
        let issue = #","issue":{"isKnown":false,"sourceLocation":{"fileID":"Some/File.swift","line":7}}"#
        return event("issueRecorded", test, more: issue + #","messages":[{"text":"\#(text)"}]"#)
    }

    /// What the runner prints, and its exit status behind it.
    private func runner(_ program: String, _ options: String = "") throws -> String {
        let script = "\(GatewayProcess.fixtures)/../../Scripts/tests.py"
        return try run(
            "sh",
            [
                "-c",
                "python3 '\(script)' --program '\(program)' --logs '\(directory.file("logs"))' \(options) 2>&1; echo \"exit $?\"",
            ])
    }

    @Test func `Tests that pass are counted, and the slowest come first`() throws {
        let said = try runner(tests(events: passes("first", seconds: 3) + passes("second", seconds: 5)))
        #expect(said.contains("   5.0 s  Some.Suite: second\n     3.0 s  Some.Suite: first\n"), "\(said)")
        #expect(said.hasSuffix("2 passed, 0 failed, 0 skipped\nexit 0\n"), "\(said)")
        #expect(!said.contains("what the tests print"))
    }

    @Test func `A failure is told once, with its place, and the run fails`() throws {
        let events = passes("first") + [event("testStarted", "second")]
        let failed = [failure("second", "Expectation failed"), event("testEnded", "second")]
        let said = try runner(tests(events: events + failed, status: 1))
        #expect(said.split(separator: "Expectation failed").count == 2, "\(said)")
        #expect(said.contains("✘ Some.Suite: second (0.0 s)\n  Some/File.swift:7: Expectation failed\n"), "\(said)")
        #expect(said.hasSuffix("1 passed, 1 failed, 0 skipped\nexit 1\n"), "\(said)")
    }

    @Test func `A crash fails the test that ran, and shows the end of the output`() throws {
        let said = try runner(tests(events: passes("first") + [event("testStarted", "second")], status: 128 + 9))
        #expect(said.contains("✘ Some.Suite: second"), "\(said)")
        #expect(said.contains("the process ended with -9 while this test ran"), "\(said)")
        #expect(said.contains("what the tests print"))
        #expect(said.hasSuffix("1 passed, 1 failed, 0 skipped\nexit 1\n"), "\(said)")
    }

    @Test func `A hang fails the test that ran, and shows what the threads wait for`() throws {
        let program = try tests(events: passes("first") + [event("testStarted", "second")], then: "exec sleep 100")
        let said = try runner(program, "--silence 1")
        #expect(said.contains("✘ Some.Suite: second"), "\(said)")
        #expect(said.contains("the process hung, and was killed; its threads:\n"), "\(said)")
        #expect(said.contains(" S sleep "), "\(said)")
        #expect(said.hasSuffix("1 passed, 1 failed, 0 skipped\nexit 1\n"), "\(said)")
    }

    @Test func `Where a process may hang, it is begun once more, which is told, and not twice`() throws {
        let once = "[ -e '\(directory.file("begun"))' ] || { touch '\(directory.file("begun"))' && exec sleep 100; }"
        let events = passes("first") + passes("second")
        let said = try runner(tests(events: events, then: once), "--silence 1 --again")
        #expect(said.contains("! Some hung in no test, and is begun once more. Its threads:\n"), "\(said)")
        #expect(said.hasSuffix("2 passed, 0 failed, 0 skipped\nexit 0\n"), "\(said)")
        let twice = try runner(tests(events: events, then: "exec sleep 100"), "--silence 1 --again")
        #expect(
            twice.contains("and is begun once more") && twice.contains("the process hung, and was killed"), "\(twice)")
        #expect(twice.hasSuffix("exit 1\n"), "\(twice)")
    }

    @Test
    func `Short suites of a target that takes long share a process, and a long one and another target have their own`()
        throws
    {
        let short = ["A", "B", "C", "D", "E"].map { "IntegrationTests.\($0)Tests" }
        let program = try tests(
            events: passes("first") + passes("second"), then: "echo \"with $*\"",
            suites: short + ["IntegrationTests.HTTPRunTests", "Some.Suite", "Some.Other"])
        #expect(try runner(program).hasSuffix(" passed, 0 failed, 0 skipped\nexit 0\n"))
        let times = try run("cat", [directory.file("logs/times")])
        let processes = times.split(separator: "\n").dropFirst().compactMap { $0.split(separator: " ").last }
        #expect(
            processes.sorted() == [
                "IntegrationTests.ATests+3", "IntegrationTests.ETests", "IntegrationTests.HTTPRunTests", "Some",
            ])
        let log = try run("cat", [directory.file("logs/IntegrationTests.ATests+3")])
        let names = short.prefix(4).map { $0.replacing(".", with: #"\."#) }.joined(separator: "|")
        #expect(log.contains("--filter ^(?:\(names))[./]"), "\(log)")
    }

    @Test func `A process for which all others have waited is named`() throws {
        let program = try tests(
            events: passes("first") + passes("second"), then: "case \"$*\" in *Slow*) sleep 2 ;; esac",
            suites: ["Some.Suite", "Slow.Suite"])
        let hint = "Slow ran alone for the last"
        #expect(try runner(program, "--alone-limit 1").contains(hint))
        #expect(try !runner(program, "--alone-limit 60").contains(hint))
    }

    // The names of files have `key`, because another runner may search the directory of this test.
    @Test func `The key of a phone in what an integration test prints is a failure`() throws {
        let program = try tests(
            events: passes("first") + passes("second"),
            then: "echo '<5>the key is 9b7d390aa610103''405adc857a33402ec'", suites: ["IntegrationTests.KeyTests"])
        let said = try runner(program)
        #expect(said.contains("(IntegrationTests.KeyTests)") && said.contains("a key of a phone is in"), "\(said)")
        #expect(said.hasSuffix("2 passed, 1 failed, 0 skipped\nexit 1\n"), "\(said)")
    }

    @Test(arguments: [
        ("state/phone-keys", "EC0234A357C8AD05''341010A60A397D9B", false),
        ("jane.key", "EC0234A357C8AD05''341010A60A397D9B", false),
        ("state/other-keys", "EC0234A357C8AD05''341010A60A397D9B", true),
        ("state-two/history.db", "9b7d390aa610103405''adc857a33402ec", true),
        ("config.json", "EC0234A357C8AD05''341010A60A397D9B", false),
        ("log", "7AI0o1fIrQU0''EBCmCjl9mw==", true),
        ("state/outbox", #"\354\002\064\243\127\310\255\005''\064\020\020\246\012\071\175\233"#, true),
    ])
    func `A key of a phone in a file that a test leaves is a failure, unless the file is for keys or a configuration`(
        file: String, content: String, isFound: Bool
    ) throws {
        let path = "\"$IBEACON_GATEWAY_TEST_DIRECTORY\"/x/\(file)"
        let program = try tests(
            events: passes("first") + passes("second"),
            then: "mkdir -p \"$(dirname \(path))\"; printf 'some \(content) more' >\(path); echo \(path) >&2")
        let said = try runner(program)
        let log = try run("cat", [directory.file("logs/Some")])
        let directory = try #require(log.split(separator: "\n").last.map { $0.dropLast(file.utf8.count + 3) })
        if isFound {
            #expect(said.contains("a key of a phone is in \(directory)/x/\(file)\n"), "\(said)")
            #expect(said.hasSuffix("2 passed, 1 failed, 0 skipped\nexit 1\n"), "\(said)")
            _ = try run("rm", ["-r", "\(directory)"])
        } else {
            #expect(said.hasSuffix("2 passed, 0 failed, 0 skipped\nexit 0\n"), "\(said)")
            #expect(throws: (any Error).self) { try run("ls", ["\(directory)"]) }
        }
    }

    @Test func `Tests that never began are no success`() throws {
        let said = try runner(tests(events: passes("first")))
        #expect(said.contains("1 tests never ended"), "\(said)")
        #expect(said.hasSuffix("exit 1\n"))
    }

    @Test func `A run of no test is no success`() throws {
        let said = try runner(tests(events: []), "--filter nothing")
        #expect(said.hasSuffix("0 passed, 0 failed, 0 skipped\nexit 1\n"), "\(said)")
    }

    @Test func `A status of failure without a failed test is a failure`() throws {
        let said = try runner(tests(events: passes("first") + passes("second"), status: 3))
        #expect(said.contains("the process ended with 3, and no test failed"), "\(said)")
        #expect(said.hasSuffix("exit 1\n"))
    }

    @Test func `A skipped test is named with its reason, and fails the run where it must run`() throws {
        let skipped = event(
            "testSkipped", "second", more: #","messages":[{"text":"Test second() skipped: \"only root can\""}]"#)
        let program = try tests(events: passes("first") + [skipped])
        let said = try runner(program)
        #expect(said.contains("skipped:\n  Some.Suite: second: only root can\n"), "\(said)")
        #expect(said.hasSuffix("1 passed, 0 failed, 1 skipped\nexit 0\n"), "\(said)")
        let strict = try runner(program, "--must-run")
        #expect(strict.contains("it was skipped, and it must run here: only root can"), "\(strict)")
        #expect(strict.hasSuffix("exit 1\n"))
    }

    /// A program in the place of `Tests/VirtualHost/run`.
    private func virtualHost(_ commands: String) throws -> String {
        let program = try directory.write("#!/bin/sh\n\(commands)\n", to: "virtual-host")
        _ = try run("chmod", ["+x", program])
        return program
    }

    @Test func `Scenarios run beside the tests, and their verdicts count like those of tests`() throws {
        let (here, there) = (directory.file("tests-run"), directory.file("scenarios-run"))
        func meet(_ own: String, _ other: String) -> String {
            "touch '\(own)'; for turn in $(seq 600); do [ -e '\(other)' ] && break; sleep 0.1; done; [ -e '\(other)' ] || exit 9"
        }
        let program = try tests(events: passes("first") + passes("second"), then: meet(here, there))
        let host = try virtualHost(
            "\(meet(there, here)); echo 'ok 1 legacy 00-bench 9 s for 20 s'; echo \"$1 $2\" >&2; exit 0")
        let said = try runner(program, "--virtual-host '\(host)' --beside 'uml --quick'")
        #expect(said.contains("     9.0 s  VirtualHost: uml 00-bench (legacy)\n"), "\(said)")
        #expect(said.contains("\n  uml --quick\n"), "\(said)")
        #expect(said.hasSuffix("3 passed, 0 failed, 0 skipped\nexit 0\n"), "\(said)")
    }

    @Test(arguments: [
        (
            "echo 'not ok 1 legacy 00-bench 9 s: not within 10 s'; exit 1",
            "uml 00-bench (legacy) (9.0 s)\n  not within 10 s\n"
        ),
        ("echo 'ok 1 legacy 00-bench 9 s'; exit 70", "1 scenarios were run, and the exit status was 70"),
        ("exit 0", "0 scenarios were run, and the exit status was 0"),
    ])
    func `A scenario that fails, and a virtual host that does not come to its end, are failures`(
        commands: String, text: String
    ) throws {
        let program = try tests(events: passes("first") + passes("second"))
        let said = try runner(program, "--virtual-host '\(virtualHost(commands))' --beside uml")
        #expect(said.contains(text), "\(said)")
        #expect(said.hasSuffix("1 failed, 0 skipped\nexit 1\n"), "\(said)")
    }

    @Test func `What measures a time has the machine for itself, after the tests`() throws {
        let program = try tests(events: passes("first") + passes("second"), then: "touch '\(directory.file("ended"))'")
        let host = try virtualHost("[ -e '\(directory.file("ended"))' ] && echo 'ok 1 legacy 05-floods 9 s'")
        let said = try runner(program, "--virtual-host '\(host)' --alone 'uml --alone only'")
        #expect(said.hasSuffix("3 passed, 0 failed, 0 skipped\nexit 0\n"), "\(said)")
    }

    @Test func `How long each process took and computed is kept beside the logs`() throws {
        let work = "python3 -c 'while __import__(\"time\").process_time() < 0.3: pass'"
        _ = try runner(tests(events: passes("first") + passes("second"), then: work))
        let times = try run("cat", [directory.file("logs/times")])
        let row = try #require(times.split(separator: "\n").last?.split(separator: " "))
        #expect(row.last == "Some")
        #expect(try #require(Double(row[1])) >= 0.3, "\(times)")
    }

    @Test func `Repeated runs end with a table of the failures by test`() throws {
        let events =
            passes("first") + [event("testStarted", "second"), failure("second", "no"), event("testEnded", "second")]
        let said = try runner(tests(events: events, status: 1), "--repeat 3 --load half")
        #expect(said.contains("failures by test, of 3 runs:\n    3 of   3  Some.Suite: second\n"), "\(said)")
        #expect(said.hasSuffix("1 passed, 1 failed, 0 skipped\nexit 1\n"), "\(said)")
    }
}
