import Glibc

/// Files that the command line or the configuration names, with failures that have an exit code.
package enum FileAccess {
    /// The bytes of a file.
    ///
    /// - Parameter kind: `.regular` for all files of the service, which must not wait for a pipe.
    package static func read(_ path: String, _ kind: InputFile.Kind = .regular) throws(Failure) -> [UInt8] {
        do throws(FileError) { return try InputFile.read(path, kind) } catch { throw Failure(error) }
    }

    /// The bytes of a file, pipe or device that the command line names; `-` is standard input.
    package static func readNamed(_ path: String) throws(Failure) -> [UInt8] {
        guard path == "-" else { return try read(path, .any) }
        do throws(FileError) { return try InputFile.readStandardInput() } catch { throw Failure(error) }
    }

    /// Writes a file, pipe or device that the command line names.
    package static func writeNamed(_ bytes: [UInt8], to path: String) throws(Failure) {
        do throws(FileError) { try OutputFile.write(bytes, to: path) } catch { throw Failure(error) }
    }

    /// Creates a directory that only its owner and group may enter, and its parents. Existing directories are kept.
    package static func createDirectory(_ path: String) throws(Failure) {
        var prefix = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            prefix += prefix.isEmpty || prefix.hasSuffix("/") ? String(part) : "/\(part)"
            guard mkdir(prefix, 0o750) == 0 || errno == EEXIST || exists(prefix) else {
                throw Failure(.cannotCreate, "cannot create \(path): \(lastError)")
            }
        }
    }

    /// Whether users other than owner and group can read the file.
    package static func isWorldReadable(_ path: String) -> Bool {
        var information = stat()
        guard stat(path, &information) == 0 else { return false }
        return information.st_mode & S_IROTH != 0
    }

    package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Whether there is certainly no such file. Also false if this process may not look.
    package static func isMissing(_ path: String) -> Bool { access(path, F_OK) != 0 && errno == ENOENT }

    /// The first of these paths that exists, or may exist, and that this process may not read; nil: it may read all.
    package static func unreadable(_ paths: [String]) -> Failure? {
        for path in paths where access(path, R_OK) != 0 && [EACCES, EPERM].contains(errno) {
            return Failure(.noPermission, "cannot read \(path): \(lastError)")
        }
        return nil
    }

    /// The error text of the last failed system call.
    package static var lastError: String { systemMessage(errno) }

    /// A path in a file, relative to that file's directory.
    package static func resolve(_ path: String, beside file: String?) -> String {
        guard !path.hasPrefix("/"), let file, let slash = file.lastIndex(of: "/") else { return path }
        return file[...slash] + path
    }
}

extension Failure {
    package init(_ error: FileError) {
        let code: ExitCode =
            switch (error.operation, error.reason, error.code) {
            case (_, .tooLong, _): .badData
            case (_, _, EACCES), (_, _, EPERM): .noPermission
            case (.read, _, EIO): .inputOutput
            case (.read, _, _): .noInput
            case (.create, _, _): .cannotCreate
            case (.write, _, _): .inputOutput
            }
        self.init(code, "\(error)")
    }
}
