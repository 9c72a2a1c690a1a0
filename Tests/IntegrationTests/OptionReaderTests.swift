import TestSupport
import Testing

/// What `read_options` of `Scripts/lib.sh` makes of the words that a script is called with.
@Suite struct OptionReaderTests {
    private let directory: TemporaryDirectory
    private let script: String

    init() throws {
        directory = try TemporaryDirectory()
        script = try directory.write(
            """
            #!/bin/bash
            # Tries the reader.
            #
            # usage: tries [--fast]

            # This is no help.
            set -euo pipefail
            . "\(GatewayProcess.fixtures)/../../Scripts/lib.sh"
            read_options "--fast --dry-run --kind=one|two --name=TEXT... WORD [FILE]" "$@"
            echo "$fast,$dry_run,$kind,${#name[@]}:${name[*]},${#words[@]}:${words[*]}"
            """, to: "tries")
    }

    private func call(_ words: [String]) throws -> (output: String, status: Int32) {
        let output = directory.file("output")
        let status = try ChildProcess("bash", [script] + words, output: output).wait()
        return (String(decoding: try directory.read("output"), as: UTF8.self), status)
    }

    @Test(arguments: [
        (["a"], ",,,0:,1:a"),
        (["--fast", "a", "b"], "yes,,,0:,2:a b"),
        (["a", "--dry-run"], ",yes,,0:,1:a"),
        (["--kind", "one", "a"], ",,one,0:,1:a"),
        (["--kind=two", "a"], ",,two,0:,1:a"),
        (["--kind=two", "--kind=one", "a"], ",,one,0:,1:a"),
        (["--name", "it's $HOME", "--name=*", "a"], ",,,2:it's $HOME *,1:a"),
        (["a", "--", "--fast"], ",,,0:,2:a --fast"),
        (["a", "-"], ",,,0:,2:a -"),
        (["b c"], ",,,0:,1:b c"),
    ])
    func `Options and words are read in any order`(_ words: [String], _ expected: String) throws {
        let (output, status) = try call(words)
        #expect(output == expected + "\n")
        #expect(status == 0)
    }

    @Test(arguments: [
        ([], "something is missing"),
        (["a", "b", "c"], "'c' is one word too many"),
        (["--fas", "a"], "there is no option '--fas'"),
        (["-x", "a"], "there is no option '-x'"),
        (["--slow=5", "a"], "there is no option '--slow'"),
        (["--fast=yes", "a"], "--fast takes no value"),
        (["a", "--kind"], "--kind wants a value: one|two"),
        (["--kind", "--fast", "a"], "--kind wants a value: one|two"),
        (["--kind", "three", "a"], "there is no --kind 'three'; there are: one, two"),
        (["--kind=", "a"], "there is no --kind ''; there are: one, two"),
    ])
    func `What does not fit is refused with 64 and its reason`(_ words: [String], _ reason: String) throws {
        let (output, status) = try call(words)
        #expect(output.contains("tries: \(reason)"), "\(output)")
        #expect(output.hasSuffix("tries --help\n"))
        #expect(status == 64)
    }

    @Test(arguments: [["--help"], ["-h"], ["a", "--help"]])
    func `The help is the comment at the head of the script`(_ words: [String]) throws {
        let (output, status) = try call(words)
        #expect(output == "Tries the reader.\n\nusage: tries [--fast]\n")
        #expect(status == 0)
    }
}
