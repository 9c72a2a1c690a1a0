import Glibc

/// A home: gateways in rooms, and what was recorded there.
struct Home {
    var name: String
    var rooms: [String] = []
    var gateways: [(name: String, room: Int)] = []
    var sessions: [Session] = []

    init(name: String, rooms: [String], gateways: [(name: String, room: Int)]) {
        (self.name, self.rooms, self.gateways) = (name, rooms, gateways)
    }

    /// Reads the compact form: a line with gateways, then `session,seconds,room,level,…`. A line that is not
    /// understood ends the program: figures from half a file would be worse than none.
    ///
    /// - Parameter every: Takes each moment of so many, as if the beacon were so much slower.
    init(path: String, every: Int = 1) {
        name = path.split(separator: "/").last.map(String.init) ?? path
        for line in readText(path).split(separator: "\n") where !line.hasPrefix("#") {
            let fields = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            if fields[0] == "gateways" {
                for field in fields.dropFirst() {
                    let pair = field.split(separator: "=").map(String.init)
                    guard pair.count == 2 else { fail("\(path): not understood: \(line)") }
                    gateways.append((pair[0], room(pair[1])))
                }
                continue
            }
            guard fields.count == 3 + gateways.count, let time = Double(fields[1]) else {
                fail("\(path): not understood: \(line)")
            }
            if sessions.last?.name != fields[0] { sessions.append(Session(name: fields[0])) }
            sessions[sessions.count - 1].moments.append(
                Moment(time: time, room: room(fields[2]), levels: fields.dropFirst(3).map { Double($0) }))
        }
        for index in sessions.indices {
            sessions[index].moments = sessions[index].moments.enumerated().filter { $0.offset % every == 0 }.map(
                \.element)
            sessions[index].seconds = sessions[index].makeSeconds()
        }
    }

    private mutating func room(_ name: String) -> Int {
        if let index = rooms.firstIndex(of: name) { return index }
        rooms.append(name)
        return rooms.count - 1
    }
}

func fail(_ text: String) -> Never {
    let line = Array((text + "\n").utf8)
    _ = unsafe write(STDERR_FILENO, line, line.count)
    exit(1)
}

func writeText(_ text: String, to path: String) {
    guard let file = unsafe fopen(path, "w") else { fail("\(path): cannot be created") }
    let bytes = Array(text.utf8)
    let written = unsafe fwrite(bytes, 1, bytes.count, file)
    guard unsafe fclose(file) == 0, written == bytes.count else { fail("\(path): cannot be written") }
}

func readText(_ path: String) -> String {
    guard let file = unsafe fopen(path, "r") else { fail("\(path): cannot be opened") }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = unsafe fread(&buffer, 1, buffer.count, file)
        guard count > 0 else { break }
        bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
}
