import Glibc
import JSON
import TestSupport
import Testing

@testable import Tools

/// Which files the service's user can read, by their modes.
@Suite struct ServiceFilesTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test(arguments: [
        (mode_t(0o600), false, false, false), (0o600, true, false, true), (0o640, false, true, true),
        (0o640, false, false, false), (0o644, false, false, true), (0o000, true, true, false),
        (0o040, true, true, false),
    ])
    func `The owner, the group and others have the rights that the mode gives`(
        mode: mode_t, isOwner: Bool, isInGroup: Bool, mayRead: Bool
    ) throws {
        let path = try directory.write("secret", to: "password")
        try #require(chmod(directory.path, 0o755) == 0 && chmod(path, mode) == 0)
        var status = stat()
        try #require(stat(path, &status) == 0)
        // Anybody but root, who may read everything.
        try #require(chown(path, geteuid() == 0 ? 4321 : geteuid(), geteuid() == 0 ? 4321 : getegid()) == 0)
        try #require(stat(path, &status) == 0)
        let user = ServiceUser(
            user: isOwner ? status.st_uid : status.st_uid + 1, groups: isInGroup ? [status.st_gid] : [status.st_gid + 1]
        )
        #expect(user.mayRead(path) == mayRead)
    }

    @Test func `Every member that names a file is looked at, wherever it stands`() {
        let found = ServiceFiles.files(
            in: [
                "passwordFile": "a", "caFile": "b", "encryptionKeyFile": "", "deviceId": "c",
                "trackers": [["encryptionKeyFile": "d"]], "rooms": ["encryptionKeyFile": "e"],
                "bluetoothProxy": ["keyFile": "f"],
            ], "")
        #expect(
            found.map { "\($0.member) \($0.file)" } == [
                "bluetoothProxy.keyFile f", "caFile b", "passwordFile a", "rooms.encryptionKeyFile e",
                "trackers[0].encryptionKeyFile d",
            ])
    }

    @Test func `A directory that may not be searched hides the file in it`() throws {
        let path = try directory.write("secret", to: "password")
        try #require(chmod(path, 0o644) == 0 && chmod(directory.path, 0o700) == 0)
        let user = ServiceUser(user: geteuid() + 1, groups: [getegid() + 1])
        #expect(!user.mayRead(path))
        try #require(chmod(directory.path, 0o711) == 0)
        #expect(user.mayRead(path))
    }

    @Test func `Root reads everything, and a file that is not there is no matter of rights`() throws {
        let path = try directory.write("secret", to: "password")
        #expect(ServiceUser(user: 0, groups: []).mayRead(path))
        try #require(chmod(directory.path, 0o755) == 0)
        #expect(ServiceUser(user: geteuid() + 1, groups: []).mayRead(directory.file("nothing")))
    }
}
