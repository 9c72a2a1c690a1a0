import Configuration
import JSON
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

/// Which tracker `--tracker` names.
@Suite struct TrackerNameTests {
    @Test(
        arguments: [
            (nil, 0, nil), ("LL", 0, nil), ("hall", 0, nil), ("anna", 1, nil), ("joanna", 2, nil), ("KE", 3, nil),
            ("NA", nil, "2 trackers have the tid 'NA'; name one by its device: anna, joanna"),
            ("XX", nil, "unknown tracker 'XX'; the trackers are: LL, anna, joanna, KE"),
        ] as [(String?, Int?, String?)])
    func `A tid that two trackers have is refused, and their devices are taken`(
        name: String?, index: Int?, refusal: String?
    ) throws {
        let json = try JSONValue(
            parsing: """
                {"_type":"configuration","deviceId":"hall","trackers":[{"deviceId":"anna"},{"deviceId":"joanna"},
                {"deviceId":"keys","tid":"KE"}]}
                """)
        let settings = Settings(
            configuration: try Configuration(json, hostName: "pi"), json: json, path: "/x",
            stateDirectory: "/nonexistent")
        do throws(Failure) {
            let found = try settings.tracker(name)
            #expect(found == index)
        } catch {
            #expect(error.message == refusal && error.code == .usage && index == nil)
        }
    }
}
