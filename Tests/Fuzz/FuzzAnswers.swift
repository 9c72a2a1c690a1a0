// What a broker or an HTTP server sends: the packets before libmosquitto reads them, the answers to posts and questions, and
// what the commands make of them.
import Base
import Health
import JSON
import OwnTracks
import SiteProtocol
import Status

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
        shown(json)
    }
    if let tag = PublishedTag(input) {
        require((0...100).contains(tag.percent))
        let shown = SiteTag(id: "t", state: tag.json)
        _ = (shown.sentences(now: 1_800_000_000), shown.age(now: 0), shown.place)
    }
    if let card = ServiceCard(input) { require(ServiceCard(card.payload) == card, "a card reads differently") }
    _ = (PublishedRoom(input), HealthMessage(input), try? FeedDecoder.card(input))
    return 0
}

/// The answers of a service, which may be any program at that address.
private func shown(_ json: JSONValue) {
    let snapshot = StatusSnapshot(reading: json)
    require(StatusText(snapshot).text.utf8.count > 0)
    let again = StatusSnapshot(reading: snapshot.json)
    require(StatusText(again).text == StatusText(snapshot).text, "what is shown reads differently")
    var measurement = ServiceMeasurement(at: .zero)
    measurement.add(snapshot, at: .zero)
    measurement.add(again, at: MonotonicInstant(nanoseconds: 1))
    _ = (measurement.report.text, measurement.reportsPerSecond.map { Int64(saturating: $0) })
    for region in (json.array ?? [json]).compactMap({ ExplainedRegion(reading: $0, at: .zero) }) {
        _ = ExplanationText.text(region, at: .zero)
    }
}

/// What libmosquitto may read of a broker's bytes, what was cut, and whether the connection must end.
private func filtered(_ input: [UInt8], chunk: Int) -> [[UInt8]] {
    var output: [UInt8] = []
    var filter = PacketFilter(limit: 64, hasProperties: true)
    // Behind an answer to CONNECT, but for inputs that begin with one of their own.
    let answer: [UInt8] = input.first.map { $0 >> 4 } == 2 ? [] : [0x20, 3, 0, 0, 0]
    var rest = (answer + input)[...]
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
