import Testing

@testable import Tools

@Suite struct HelpTextTests {
    @Test func `The help of an action shows what it alone has`() {
        let page = HelpText.page(RoomsCommand.specification, operands: ["learn", "Kitchen"])
        #expect(
            page == """
                find the room of each tag from the readings of several gateways

                usage: ibeacon-gateway rooms [OPTIONS] learn ROOM

                Options:
                  --tag NAME         the tag to carry through the room
                  --seconds SECONDS  how long to learn (default 120; 0 ends a run)
                  --new              make a room that does not exist yet, without a question

                Examples:
                  ibeacon-gateway rooms learn Kitchen --tag Jane
                      learn the kitchen; carry the tag through it for two minutes

                'ibeacon-gateway rooms --help' shows all actions.
                """)
    }

    @Test func `An action without options of its own shows those that all actions have`() {
        let page = HelpText.page(RegionsCommand.specification, operands: ["remove"])
        #expect(page.contains("usage: ibeacon-gateway regions [OPTIONS] remove RID\n"))
        #expect(page.contains("--tracker TID") && !page.contains("--leave-after"))
        #expect(!HelpText.page(RoomsCommand.specification, operands: ["clear"]).contains("Options:"))
    }

    @Test(arguments: [[], ["lern"], ["ROOM"], ["|"]])
    func `Anything else shows the whole command`(operands: [String]) {
        #expect(
            HelpText.page(RoomsCommand.specification, operands: operands) == HelpText.page(RoomsCommand.specification))
    }
}
