import Glibc
import System
import TestSupport
import Testing

/// What root refuses in a directory that belongs to the service's user.
@Suite(.enabled(if: geteuid() == 0, "only root can make files of other users")) struct OwnedDirectoryTests {
    /// How `state.db` came to be, and whether root may use it.
    enum Entry: CaseIterable {
        case absent, owned, rootsOwn, link, danglingLink, fifo, hardLink, anothersFile

        var isTrusted: Bool {
            switch self {
            case .absent, .owned, .rootsOwn: true
            default: false
            }
        }

        func make(in directory: TemporaryDirectory) throws {
            let path = directory.file("state.db")
            switch self {
            case .absent: break
            case .owned, .rootsOwn, .anothersFile, .hardLink:
                try directory.write("x", to: "state.db")
                if self == .owned || self == .hardLink { chown(path, 1234, 1234) }
                if self == .anothersFile { chown(path, 4321, 4321) }
                if self == .hardLink { Glibc.link(path, directory.file("other name")) }
            case .link:
                try directory.write("x", to: "victim")
                symlink("victim", path)
            case .danglingLink: symlink("nowhere", path)
            case .fifo: mkfifo(path, 0o600)
            }
        }
    }

    @Test(arguments: Entry.allCases)
    func `Root uses files of the owner or of its own, with one name`(entry: Entry) throws {
        let directory = try TemporaryDirectory()
        try entry.make(in: directory)
        chown(directory.path, 1234, 1234)
        let owned = try OwnedDirectory(directory.path)
        if entry.isTrusted {
            try owned.check("state.db")
        } else {
            #expect(throws: OwnershipError.self) { try owned.check("state.db") }
        }
    }

    @Test(arguments: [(0o700, true), (0o750, true), (0o770, false), (0o703, false)] as [(mode_t, Bool)])
    func `Root does not work in a directory that others can write to`(mode: mode_t, isTrusted: Bool) throws {
        let directory = try TemporaryDirectory()
        chown(directory.path, 1234, 1234)
        chmod(directory.path, mode)
        #expect(((try? OwnedDirectory(directory.path)) != nil) == isTrusted)
    }

    @Test func `A directory may be named by a link, which is resolved once`() throws {
        let directory = try TemporaryDirectory()
        mkdir(directory.file("real"), 0o700)
        symlink("real", directory.file("link"))
        #expect(try OwnedDirectory(directory.file("link")).file("state.db").hasSuffix("/real/state.db"))
    }
}
