import Shell
import System
import TestSupport
import Testing

@testable import Tools

/// Which configuration a command takes if none is named.
@Suite struct SettingsPlaceTests {
    private func failure(_ isOptional: Bool, at path: String) -> Failure? {
        do throws(Failure) {
            let settings = try Settings.load(
                Arguments(), stateDirectory: "/nonexistent", isOptional: isOptional, at: path)
            #expect(settings.path == nil)
            return nil
        } catch {
            return error
        }
    }

    @Test func `Where there is certainly no file, the defaults apply`() {
        #expect(failure(false, at: "/nonexistent/config.json") == nil)
    }

    @Test func `Where the file cannot be looked for, the defaults apply only to commands that are right without it`()
        throws
    {
        let directory = try TemporaryDirectory()
        // A file in the place of the directory denies the look to root, too.
        let path = try directory.write("", to: "etc") + "/config.json"
        #expect(failure(false, at: path)?.code == .noPermission)
        #expect(failure(false, at: path)?.message.contains(path) == true)
        #expect(failure(true, at: path) == nil)
    }
}
