import Glibc
import System

/// Other programs of this machine.
enum OtherProgram {
    /// Whether a program of this name runs, according to /proc.
    static func runs(_ name: String) -> Bool {
        KernelFile.names(in: "/proc").contains { process in
            process.allSatisfy(\.isNumber) && KernelFile.firstLine("/proc/\(process)/comm") == name
        }
    }

    /// Starts a program and waits for it.
    ///
    /// - Parameters:
    ///   - words: Its name, which is searched for in PATH, and its arguments.
    ///   - input: Its standard input, shorter than the buffer of a pipe (64 KiB); nil: it inherits ours.
    ///   - isCaptured: Whether its output is returned and its errors are discarded. Otherwise it inherits ours.
    /// - Returns: Its output; nil if it could not be started or failed.
    static func run(_ words: [String], input: String? = nil, isCaptured: Bool = false) -> String? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var source: [CInt] = [-1, -1]
        if let input {
            guard pipe(&source) == 0 else { return nil }
            let isWritten = (try? writeAll(Array(input.utf8), to: source[1])) != nil
            close(source[1])
            guard isWritten else {
                close(source[0])
                return nil
            }
            posix_spawn_file_actions_adddup2(&actions, source[0], STDIN_FILENO)
            posix_spawn_file_actions_addclose(&actions, source[0])
        }
        defer { if input != nil { close(source[0]) } }
        var ends: [CInt] = [-1, -1]
        if isCaptured {
            guard pipe(&ends) == 0 else { return nil }
            posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
            posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
            posix_spawn_file_actions_addclose(&actions, ends[0])
            posix_spawn_file_actions_addclose(&actions, ends[1])
        }
        defer { if isCaptured { close(ends[0]) } }
        let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var child = pid_t()
        let isStarted = posix_spawnp(&child, words[0], &actions, nil, arguments, environ) == 0
        if isCaptured { close(ends[1]) }
        guard isStarted else { return nil }
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while isCaptured, let count = try? systemCall("read", { read(ends[0], &buffer, buffer.count) }), count > 0 {
            output += buffer[..<count]
        }
        var status: CInt = 0
        guard (try? systemCall("waitpid", { waitpid(child, &status, 0) })) != nil, status == 0 else { return nil }
        return String(decoding: output, as: UTF8.self)
    }
}
