import OwnTracks
import Testing

@testable import Configuration

/// The comments of the default file. `Scripts/interface` reads them, and makes the manual page of them.
@Suite struct DefaultFileTests {
    private static let lines = Configuration.commentedDefault.split(separator: "\n").map { $0.drop { $0 == " " } }
    /// The comments as one text.
    private static let text = lines.map { $0.hasPrefix("// ") ? $0.dropFirst(3) : $0 }.joined(separator: " ")
    private static let rows = Setting.all + Setting.rooms

    @Test("A comment goes on in the next line where it would be longer than 100 characters")
    func wraps() {
        let lines = Configuration.comment("twelve chars\n  " + String(repeating: "four ", count: 20), indentation: "  ")
        let full = "  // twelve chars" + String(repeating: " four", count: 16)
        #expect(lines == [full, "  // four four four four"])
        #expect(full.count == 97)
        #expect(Configuration.comment("\(String(repeating: "x", count: 97)) y").map(\.count) == [100, 4])
        #expect(Configuration.comment("\(String(repeating: "x", count: 95)) y").map(\.count) == [100])
    }

    @Test("No comment of the default file is longer")
    func width() {
        for line in Configuration.commentedDefault.split(separator: "\n") where line.contains("// ") {
            #expect(line.count <= Configuration.longestComment || line.hasSuffix("// example"), "\(line)")
        }
    }

    @Test("Every row has words: whole sentences, with backticks in pairs", arguments: rows.map(\.name))
    func words(name: String) throws {
        let words = try #require(Self.rows.first { $0.name == name }).words().split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
        #expect(words.count > 1 && words.hasSuffix("."))
        #expect(words.split(separator: "`", omittingEmptySubsequences: false).count.isMultiple(of: 2) == false)
        #expect(!words.contains(Configuration.changeTitle), "its effects say that")
        #expect(Self.text.contains(words))
    }

    @Test("The words of trackers name all that a tracker can have")
    func identities() throws {
        let words = try #require(Setting.all.first { $0.name == "trackers" }).words()
        #expect(Setting.identityNames.contains("encryptionKeyFile"))
        for name in Setting.identityNames { #expect(words.contains("`\(name)`")) }
    }

    static let effects: [(effects: SettingEffects, words: String?)] = [
        (.gateway(.live), nil), (.gateway(.reconnect), "new connection of the gateway"),
        (.gateway(.restart), "restart of the gateway"), (.rooms(.live), "at once in the rooms service"),
        (.both(.live), "at once in both services"), (.both(.reconnect), "new connection of both services"),
        (
            SettingEffects(gateway: .reconnect, rooms: .restart),
            "new connection of the gateway, restart of the rooms service"
        ),
    ]

    @Test("What a change needs is said of each service that uses the setting", arguments: effects)
    func change(effects: SettingEffects, words: String?) {
        #expect(effects.words == words)
    }

    @Test("Other effects have other words")
    func differentChanges() {
        let each: [SettingEffect?] = SettingEffect.allCases + [nil]
        let all = each.flatMap { gateway in each.map { SettingEffects(gateway: gateway, rooms: $0) } }
        // Two have none: the usual effects, and those of an object.
        #expect(Set(all.compactMap(\.words)).count == all.count - 2)
    }

    @Test("The default file names the effects of each row")
    func changes() {
        let said = Self.lines.filter { $0.hasPrefix("// \(Configuration.changeTitle)") }.map(String.init)
        let effects = Setting.rows.compactMap(\.effects.words)
        #expect(said == effects.map { "// \(Configuration.changeTitle) \($0)." })
        #expect(effects.contains("new connection of both services"))
    }
}
