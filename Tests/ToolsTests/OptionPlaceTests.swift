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
