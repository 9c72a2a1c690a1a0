import Glibc

/// A directory for one test. It is removed with its content when this object is released, or by `Scripts/tests.py`, which searches
/// it before.
package final class TemporaryDirectory: Sendable {
    /// Where `Scripts/tests.py` wants the directories of this process.
    private static let common = getenv("IBEACON_GATEWAY_TEST_DIRECTORY").map { String(cString: $0) }

    package let path: String

    package init() throws {
        var template = Array((Self.common.map { "\($0)/XXXXXX" } ?? "/tmp/ibeacon-gateway-test.XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw SupportError("mkdtemp: \(String(cString: strerror(errno)))") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file that only its owner may read.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        let descriptor = open(file(name), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SupportError("\(file(name)): \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw SupportError("\(file(name)) could not be written")
        }
        return file(name)
    }

    package func read(_ name: String) throws -> [UInt8] {
        let descriptor = open(file(name), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SupportError("\(file(name)): \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        return readToEnd(descriptor)
    }

    deinit {
        guard Self.common == nil else { return }
        _ = try? run("rm", ["-rf", path])
    }
}

/// What went wrong in the test's own machinery, as against in what it tests.
package struct SupportError: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

func readToEnd(_ descriptor: Int32) -> [UInt8] {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return all }
        all += buffer[..<count]
    }
}
