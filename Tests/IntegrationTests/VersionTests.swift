import TestSupport
import Testing

/// The version is defined in `Sources/Shell/Shell/Program.swift`. Files that cannot read it there say the same.
@Suite struct VersionTests {
    private static let places: [(path: String, before: String, after: Character)] = [
        ("debian/changelog", "ibeacon-gateway (", ")"), ("CHANGELOG.md", "\n## ", ","),
        ("add-on/config.yaml", "\nversion: \"", "\""),
        ("add-on-rooms/config.yaml", "\nversion: \"", "\""), ("Docs/quick-start.md", "`ibeacon-gateway_", "+"),
        ("custom_components/ibeacon_rooms/manifest.json", "\"version\": \"", "\""),
        ("Docs/container.md", "ibeacon-gateway_", "_"), ("Docs/release.md", "version: `", "+"),
    ]

    @Test(arguments: places)
    func `Each place has the version that the program prints`(
        place: (path: String, before: String, after: Character)
    ) throws {
        let printed = try run(try GatewayProcess.program, ["--version"])
        let version = try #require(printed.split(whereSeparator: \.isWhitespace).last)
        let text = try run("cat", ["\(GatewayProcess.fixtures)/../../\(place.path)"])
            .replacing("\n## Unreleased\n", with: "\n")
        let parts = text.split(separator: place.before, maxSplits: 1, omittingEmptySubsequences: false)
        let found = try #require(parts.dropFirst().first, "\(place.path) has no '\(place.before)'")
        #expect(found.prefix { $0 != place.after && !$0.isNewline } == version, "\(place.path)")
    }
}
