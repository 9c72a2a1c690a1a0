import System
import Testing

@testable import Tools

@Suite("Options are refused where they have no meaning")
struct OptionPlaceTests {
    private func error(_ words: [String], of command: CommandSpecification) -> String? {
        do throws(Failure) {
            _ = try ArgumentReader.read(words, for: command, after: Arguments())
            return nil
        } catch {
            return error.message
        }
    }

    @Test(arguments: [
        ["history", "--tag", "Jane", "--csv"], ["learn", "Kitchen", "--tag", "Jane", "--seconds", "5"],
        ["--rid", "jane", "tags", "add", "Jane:1"], ["tags", "--erase", "remove", "jane"],
        ["replay", "house.jsonl", "--tail", "5"], ["status", "--json"], ["learn", "--help", "--csv"],
    ])
    func `Beside its own action it is taken`(words: [String]) {
        #expect(error(words, of: RoomsCommand.specification) == nil)
    }

    @Test(
        arguments: [
            (["add", "-H:U:1:2"], "'regions' has no option '-H:U:1:2'"), (["-H:U:1:2", "add"], "no option '-H:U:1:2'"),
            (["add", "-H:U:1:2", "--rid", "x"], "no option '-H:U:1:2'"),
            (["add", "x", "-Jane", "y"], "no option '-Jane'"),
            (["add", "-x"], "no option '-x'"), (["add", "-größe"], "no option '-größe'"),
            (["add", "-hx"], "no option '-hx'"),
            (["--rid", "-x", "-Jane"], "no option '-Jane'"), (["add", "--frce", "x"], "no option '--frce'"),
            (["-a"], "no option '-a'"),
        ])
    func `A word that begins with a dash is named itself where it is refused`(words: [String], text: String) {
        let message = error(words, of: RegionsCommand.specification)
        #expect(message?.contains(text + "; ") == true, "\(message ?? "")")
        let advice = "before a name or a description that begins with '-' write '--', after all options"
        #expect(message?.contains(advice) == !words.contains("--frce"))
    }

    @Test func `Behind two dashes such a word is taken, and a command without names does not advise them`() {
        #expect(error(["add", "--rid", "x", "--", "-H:U:1:2"], of: RegionsCommand.specification) == nil)
        let message = error(["-x"], of: DoctorCommand.specification)
        #expect(message == "'doctor' has no option '-x'; see 'ibeacon-gateway doctor --help'")
    }

    private func refusal(
        _ words: [String], of command: CommandSpecification, _ check: (Arguments) throws(Failure) -> Void
    ) -> String? {
        do throws(Failure) {
            try check(try ArgumentReader.read(words, for: command, after: Arguments()))
            return nil
        } catch {
            return error.code == .usage ? error.message : "\(error.code)"
        }
    }

    @Test(
        arguments: [
            (["--token", "--link"], "--token and --link exclude each other"),
            (["--explain", "Hall", "--link"], "--link and --explain exclude each other"),
            (["--explain", "Hall", "--token"], "--token and --explain exclude each other"),
            (["--token", "--address", "h:1"], "--token is for the service of this machine, without --address"),
            (["--link", "--address", "h:1"], "--link is for the service of this machine, without --address"),
            (["--explain", "Hall", "--utc"], "--explain shows no times, so --utc has no meaning"),
            (["--explain", "Hall", "--address", "h:1"], nil), (["--utc"], nil), (["--token", "--quiet"], nil),
            ([], nil),
        ] as [([String], String?)])
    func `status answers one question, and takes no option that would have no effect`(words: [String], text: String?) {
        #expect(refusal(words, of: StatusCommand.specification, StatusCommand.check) == text)
    }

    @Test(
        arguments: [
            (["--report", "r.json", "--listen", "3"], "--listen is for the checks, and --report makes none"),
            (["--duration", "3"], "--duration goes with --report FILE"),
            (["--force", "--listen", "3"], "--force goes with --report FILE"), (["--listen", "3"], nil),
            (["--report", "r.json", "--duration", "3", "--force"], nil),
        ] as [([String], String?)])
    func `doctor checks or measures, and takes no option of the other`(words: [String], text: String?) {
        let said = refusal(words, of: DoctorCommand.specification, DoctorCommand.check)
        #expect(text.map { said?.hasPrefix($0) == true } ?? (said == nil), "\(said ?? "")")
    }

    private static let beacon = "CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:7"

    /// Options of `setup`, whether a person is asked, and what is missing.
    @Test(
        arguments: [
            (["--region", "Keys"], false, "--region is for the beacon of --beacon, and none is named"),
            (["--person"], false, "--person is for the beacon of --beacon, and none is named"),
            (["--listen", "3"], false, "--listen is for the beacon of --beacon, and none is named"),
            (
                ["--region", "Keys", "--beacon", "none"], false,
                "--region is for the beacon of --beacon, and that is none"
            ),
            (["--person", "--beacon", "none"], true, "--person is for the beacon of --beacon, and that is none"),
            (["--listen", "3", "--beacon", beacon], false, "--listen is for --beacon strongest"),
            (["--listen", "3", "--beacon", beacon], true, "--listen is for --beacon strongest"),
            (["--region", "Keys", "--person", "--listen", "3"], true, nil),
            (["--region", "Keys", "--person", "--listen", "3", "--beacon", "strongest"], false, nil),
            (["--region", "Keys", "--person", "--beacon", beacon], false, nil), ([], false, nil),
            (["--beacon", "none"], false, nil),
        ] as [([String], Bool, String?)])
    func `setup takes no option for a beacon that it does not make`(words: [String], asks: Bool, text: String?) {
        let said = refusal(words, of: SetupCommand.specification) { arguments throws(Failure) in
            try BeaconQuestion.check(arguments, asks: asks)
        }
        #expect(text.map { said?.hasPrefix($0) == true } ?? (said == nil), "\(said ?? "")")
    }

    @Test(arguments: [["--state-dir", "", "status"], ["--config=", "status"]])
    func `An empty path is refused, and is not the directory in which the command runs`(words: [String]) {
        #expect(error(words, of: RoomsCommand.specification)?.hasSuffix("and got an empty text") == true)
    }

    @Test(arguments: [
        (["status", "--tag", "Jane"], "--tag is an option of 'rooms learn' and 'rooms history' only"),
        (["tags", "add", "Jane:1", "--erase"], "--erase is an option of 'rooms tags remove' only"),
        (["gateways", "remove", "attic", "--erase"], "--erase is an option of 'rooms tags remove' only"),
        (["history", "--seconds", "5"], "--seconds is an option of 'rooms learn' only"),
    ])
    func `Beside another one the message names its place`(words: [String], text: String) {
        #expect(error(words, of: RoomsCommand.specification)?.contains(text) == true)
    }
}
