import Glibc

/// One line of a recording: `t_seconds,receiver,beacon,rssi_dbm,truth`.
struct Row {
    let time: Double
    let receiver: Int
    let beacon: Int
    let rssi: Int
    let truth: Int
}

/// A recording as it was read.
struct Trace {
    var rows: [Row] = []
    var receivers: [String] = []
    var beacons: [String] = []
    var truths: [String] = []

    /// Reads a CSV file with a heading. A line that is not understood ends the program: figures from half a
    /// file would be worse than none.
    init(path: String) {
        var receiverIndex: [Substring: Int] = [:]
        var beaconIndex: [Substring: Int] = [:]
        var truthIndex: [Substring: Int] = [:]
        for line in readText(path).split(separator: "\n").dropFirst() {
            let fields = line.split(separator: ",", omittingEmptySubsequences: false)
            guard fields.count == 5, let time = Double(fields[0]), let rssi = Int(fields[3]) else {
                fail("\(path): not understood: \(line)")
            }
            rows.append(
                Row(
                    time: time, receiver: number(fields[1], &receiverIndex, &receivers),
                    beacon: number(fields[2], &beaconIndex, &beacons), rssi: rssi,
                    truth: number(fields[4], &truthIndex, &truths)))
        }
    }
}

private func number(_ name: Substring, _ index: inout [Substring: Int], _ names: inout [String]) -> Int {
    if let known = index[name] { return known }
    index[name] = names.count
    names.append(String(name))
    return names.count - 1
}

/// The whole text of a file.
func readText(_ path: String) -> String {
    guard let file = fopen(path, "r") else { fail("cannot open \(path)") }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 20)
    while true {
        let count = fread(&chunk, 1, chunk.count, file)
        guard count > 0 else { break }
        bytes.append(contentsOf: chunk[..<count])
    }
    return String(decoding: bytes, as: UTF8.self)
}

func writeText(_ text: String, to path: String) {
    guard let file = fopen(path, "w") else { fail("cannot write \(path)") }
    defer { fclose(file) }
    let bytes = Array(text.utf8)
    guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { fail("cannot write \(path)") }
}

func fail(_ message: String) -> Never {
    let bytes = Array("presence-benchmark: \(message)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
    exit(65)
}

/// A number with so many decimals.
func fixed(_ value: Double, _ decimals: Int) -> String {
    guard value.isFinite else { return "–" }
    var scale = 1.0
    for _ in 0..<decimals { scale *= 10 }
    let scaled = (value * scale).rounded()
    guard abs(scaled) < 1e15 else { return "\(value)" }
    let whole = Int(abs(scaled))
    let sign = scaled < 0 ? "-" : ""
    guard decimals > 0 else { return sign + "\(whole)" }
    let digits = String(whole % Int(scale))
    let zeros = String(repeating: "0", count: decimals - digits.count)
    return sign + "\(whole / Int(scale))." + zeros + digits
}

extension String {
    /// Filled with spaces on the left, or on the right if `width` is negative.
    func padded(_ width: Int) -> String {
        let spaces = String(repeating: " ", count: max(0, abs(width) - count))
        return width < 0 ? self + spaces : spaces + self
    }
}
