import TestSupport
import Testing

/// Commands that are asked for what they cannot do: they say so, and do not end as if it was done.
@Suite struct CommandAnswerTests {
    @Test
    func `Words and options that would have no effect are refused, and a quiet replay says what it does not take`()
        throws
    {
        let gateway = try GatewayProcess("", port: 0)
        for (words, text) in [
            (["regions", "list", "Bag"], "regions list takes no 'Bag'"),
            (["rooms", "tags", "list", "Bag"], "rooms tags list takes no 'Bag'"),
            (["phones", "add", "Jane", "--listen", "5"], "--listen is for a key of --key"),
            (["history", "--csv", "--json"], "--csv and --json exclude each other"),
            (["rooms", "history", "--since", "yesterday"], "'yesterday' is not a time"),
        ] {
            let (code, said) = try GatewayProcess.answer(gateway.arguments + words, in: gateway.directory)
            #expect(code == 64 && said.contains(text), "\(words): \(code) \(said)")
        }
        let regions = try gateway.directory.write(#"[{"_type":"waypoint","desc":7}]"#, to: "bad.otrw")
        let said = try gateway.say(
            "--quiet", "replay", "\(GatewayProcess.fixtures)/demo.btsnoop", "--regions", regions)
        #expect(said.contains("\(regions): waypoint 0"), "\(said)")
    }

    @Test func `The history of a region that there is not, and was not, is no empty history`() throws {
        let gateway = try GatewayProcess("", port: 0)
        let missing = try gateway.ask("history")
        #expect(missing.contains("nothing happened yet: there is no state in \(gateway.directory.file("state"))"))
        _ = try gateway.ask("regions", "add", "Bag:\(GatewayFixture.uuid):2")
        #expect(try gateway.ask("history", "--region", "Bag") == "nothing happened yet\n")
        #expect(try gateway.ask("history", "--since", "2h") == "nothing happened yet\n")
        let typo = try gateway.say("history", "--region", "Bgag")
        #expect(
            typo.contains("there is no region 'Bgag', and no event of one in the history; did you mean 'Bag'?"),
            "\(typo)")
        #expect(throws: (any Error).self) { try gateway.ask("history", "--region", "Bgag", "--json") }
    }
}
