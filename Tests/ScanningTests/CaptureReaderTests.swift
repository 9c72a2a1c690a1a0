import Base
import Glibc
import Testing

@testable import Scanning

@Suite("A capture is read to where it is whole")
struct CaptureReaderTests {
    private static let walk = fixture("stay-and-walk.btsnoop")

    @Test("a real recording comes with its times, adapters and strengths")
    func recording() {
        let played = play(Self.walk)
        #expect(played.error == nil)
        #expect(played.datalink == .monitor)
        #expect(played.minors == [UInt16](repeating: 7, count: 1560))
        #expect(played.milliseconds.first == 0)
        #expect(played.milliseconds.last == 637_306)
        #expect(played.wallMicroseconds.first == 1_700_000_000_000_000)
        #expect(played.receivers.prefix(2) == [0, 1])
        #expect(played.rssi.prefix(2) == [-78, -71])
        #expect(zip(played.milliseconds, played.milliseconds.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test("the next capture in a row can begin where the last one stood")
    func continuation() throws {
        let start = MonotonicInstant(nanoseconds: 7_000_000_000)
        var reader = try CaptureReader(path: fixture("captures/hci.btsnoop"), startingAt: start)
        var instants: [MonotonicInstant] = []
        while try reader.next({ record, _ in instants.append(record.instant) }) {}
        #expect(instants == [start, start.advanced(by: .seconds(1))])
        #expect(reader.timeline.instant == start.advanced(by: .seconds(1)))
    }

    @Test("cut anywhere, it gives the whole records before the cut and says where it was")
    func cuts() throws {
        let whole = bytes(of: fixture("captures/hci.btsnoop"))
        let record = (whole.count - 16) / 2
        for length in 0...whole.count {
            let file = TemporaryFile(Array(whole.prefix(length)))
            let played = play(file.path)
            #expect(played.events.count == max(0, length - 16) / record)
            let isWhole = length >= 16 && (length - 16).isMultiple(of: record)
            #expect((played.error == nil) == isWhole, "\(length) bytes")
            guard length >= 16, let error = played.error else { continue }
            #expect(error.offset == Int64(16 + played.events.count * record))
            #expect(error.records == UInt64(played.events.count))
        }
    }

    @Test("an error is one line with the file, the byte and what was still of use")
    func words() {
        let path = fixture("captures/truncated-record.btsnoop")
        #expect(
            play(path).error?.description
                == "\(path): at byte 84: the last record is cut short, 5 bytes are missing; the record before it was used"
        )
        #expect(
            play("/nonexistent/walk.btsnoop").error?.description
                == "/nonexistent/walk.btsnoop: cannot be opened: No such file or directory")
        #expect(play("/").error?.description == "/: is a directory, not a capture")
    }

    @Test("after an error nothing more comes")
    func afterError() throws {
        var reader = try CaptureReader(path: fixture("captures/impossible-length.btsnoop"))
        #expect(try reader.advance() != nil)
        #expect(throws: CaptureError.self) { try reader.advance() }
        #expect(try reader.advance() == nil)
    }

    @Test("records of any length pass through the one buffer, whatever lies across its end")
    func lengths() throws {
        var file = Array(bytes(of: fixture("captures/empty.btsnoop")))
        let lengths = [0, 1, 44, 257, 5_000, 65_552]
        var expected: [Int] = []
        for number in 0..<60 {
            // All pairs of neighbours come up, in no regular order.
            let length = lengths[number * number / 7 % lengths.count]
            expected.append(length)
            let size = (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) }
            file += size + size + [0, 0, 0, 3, 0, 0, 0, 0] + [0, 0xe2, 0xd9, 0x5f, 0, 0, 0, 0]
            file += [UInt8](repeating: UInt8(expected.count & 255), count: length)
        }
        let temporary = TemporaryFile(file)
        var reader = try CaptureReader(path: temporary.path)
        var found: [Int] = []
        var wrong = 0
        while try reader.next({ _, event in
            found.append(event.count)
            for index in event.indices where event[index] != UInt8(found.count & 255) { wrong += 1 }
        }) {}
        #expect(found == expected)
        #expect(wrong == 0)
    }

    @Test("a pipe is read like a file, however small its pieces are")
    func pipe() throws {
        let whole = bytes(of: Self.walk)
        let fifo = TemporaryFile()
        unlink(fifo.path)
        #expect(mkfifo(fifo.path, 0o600) == 0)
        let child = try #require(Feeder(path: fifo.path, bytes: whole))
        let played = play(fifo.path)
        child.wait()
        #expect(played.error == nil)
        #expect(played.events == play(Self.walk).events)
    }
}

/// The bytes of a small file.
func bytes(of path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY)
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    return Array(buffer.prefix(max(0, count)))
}

/// A thread that writes bytes into a pipe in odd pieces.
private final class Feeder: Sendable {
    private let thread: pthread_t

    private final class Load: Sendable {
        let path: String
        let bytes: [UInt8]

        init(path: String, bytes: [UInt8]) { (self.path, self.bytes) = (path, bytes) }
    }

    init?(path: String, bytes: [UInt8]) {
        var thread = pthread_t()
        let load = Unmanaged.passRetained(Load(path: path, bytes: bytes))
        guard pthread_create(&thread, nil, Self.body, load.toOpaque()) == 0 else { return nil }
        self.thread = thread
    }

    func wait() { pthread_join(thread, nil) }

    private static let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { pointer in
        guard let pointer else { return nil }
        let load = Unmanaged<Load>.fromOpaque(pointer).takeRetainedValue()
        let descriptor = open(load.path, O_WRONLY)
        var rest = load.bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(997))
            _ = piece.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            rest = rest.dropFirst(piece.count)
        }
        close(descriptor)
        return nil
    }
}

@Suite("The time of a recording")
struct CaptureTimelineTests {
    /// µs.
    private static let (second, day): (Int64, Int64) = (1_000_000, 86_400_000_000)
    private static let begin: Int64 = 62_168_256_000 * second + 20_000 * day

    @Test(
        "a gap of more than a day is a day, whether the clock was set or nobody recorded, and time goes on from there")
    func gaps() {
        var timeline = CaptureTimeline()
        var instants: [Int64] = []
        let gap = 89 * 365 * Self.day
        for stamp in [0, Self.second, Self.second + gap, 3 * Self.second + gap, Self.day + gap] {
            let isTaken = timeline.advance(to: Self.begin + stamp)
            #expect(isTaken)
            instants.append(timeline.instant.nanoseconds / 1_000_000_000)
        }
        #expect(instants == [0, 1, 86_401, 86_403, 172_800])
        #expect(timeline.gaps == 1)
    }

    @Test("gaps together are not longer than any recording")
    func sum() {
        var timeline = CaptureTimeline()
        let taken = [0, 60, 120].map { timeline.advance(to: Self.begin + $0 * 365 * Self.day) }
        #expect(taken == [true, true, false])
    }
}
