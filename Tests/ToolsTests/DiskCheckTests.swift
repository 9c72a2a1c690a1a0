import Testing

@testable import Tools

/// What `doctor` says of the disk.
@Suite struct DiskCheckTests {
    @Test(
        arguments: [
            (900, true, "900 MiB are free at /state", nil), (10, true, "only 10 MiB are free at /state", "make room"),
            (
                900, false, "900 MiB are free at /state, and the file system takes no more files: all inodes are used",
                "delete files"
            ),
            (10, false, "only 10 MiB are free at /state", "make room"),
        ] as [(UInt64, Bool, String, String?)])
    func `What is missing on the disk is named: bytes, or places for files`(
        mebibytes: UInt64, takesFiles: Bool, text: String, remedy: String?
    ) {
        let finding = DiskCheck.room("/state", free: mebibytes << 20, takesFiles: takesFiles)
        #expect(finding.text == text)
        #expect(finding.remedy?.prefix(remedy?.count ?? 0) == remedy?[...])
    }
}
