// What a broker or an HTTP server sends: the packets before libmosquitto reads them, and the answers to posts and questions.
import JSON
import OwnTracks

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    let whole = filtered(input, chunk: max(1, count))
    require(whole == filtered(input, chunk: Int(input.first ?? 0) % 7 + 1), "it depends on how the bytes are cut")
    if let answer = ServiceAnswer(input) {
        require(answer.body.count + 13 <= count)
        require(answer.status <= 999)
    }
    // The answer to a post is JSON, as a rule, and may contain commands.
    if let json = try? JSONValue(parsing: input) {
        let commands = Command.all(inAnswer: json)
        require(commands.count <= max(1, json.array?.count ?? 0))
    }
    return 0
}

/// What libmosquitto may read of a broker's bytes, what was cut, and whether the connection must end.
private func filtered(_ input: [UInt8], chunk: Int) -> [[UInt8]] {
    var output: [UInt8] = []
    var filter = PacketFilter(limit: 64, hasProperties: true)
    var rest = input[...]
    var isViolation = false
    while !rest.isEmpty, !isViolation {
        do throws(PacketFilter.Violation) {
            try filter.pass(rest.prefix(chunk), to: &output)
        } catch {
            isViolation = true
        }
        rest = rest.dropFirst(chunk)
    }
    let cuts = filter.drainCuts()
    for cut in cuts { require(cut.size > 64 && cut.topic.count <= input.count) }
    // Each packet that passes has at most the limit, and a topic and a header that were cut are no longer than the input.
    require(output.count <= 2 * input.count + 64)
    return isViolation ? [[1]] : [[0], output] + cuts.map(\.topic)
}
