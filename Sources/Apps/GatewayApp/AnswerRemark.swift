import Base
import JSON

/// Words for what an answer over HTTP contains beside commands. It is not obeyed, but a server may say there that it did not
/// do what it was asked, with the status 200.
enum AnswerRemark {
    /// Types that are named; an answer may have thousands.
    private static let mostTypes = 5

    /// - Returns: nil if there is nothing beside commands.
    static func text(of json: JSONValue) -> String? {
        let others = (json.array ?? [json]).filter { $0["_type"] != "cmd" && $0.object?.isEmpty != true }
        guard !others.isEmpty else { return nil }
        var counts: [String: Int] = [:]
        for other in others { if let type = other["_type"]?.string { counts[type.shortened, default: 0] += 1 } }
        let types = counts.sorted { $0.key < $1.key }
        var parts = types.prefix(mostTypes).map { "\($0.value) of the type '\($0.key)'" }
        if types.count > mostTypes { parts.append("\(types.count - mostTypes) other types") }
        if let first = others.first(where: { $0["_type"]?.string == nil }) {
            parts.append("what is no message of OwnTracks: \(excerpt(first.text))")
        }
        return parts.joined(separator: ", ")
    }

    /// The same for an answer that is no JSON.
    static func text(ofBytes body: [UInt8]) -> String? {
        let text = String(decoding: body.prefix(400), as: UTF8.self)
        guard let first = text.first(where: { !$0.isWhitespace }) else { return nil }
        let start = text.firstIndex(of: first) ?? text.startIndex
        return "what is no JSON: \(excerpt(String(text[start...])))"
    }

    /// Characters of an excerpt. A login or a key could stand further behind, and one line is enough to see what it is.
    private static let mostCharacters = 80

    private static func excerpt(_ text: String) -> String {
        "'\(text.prefix(mostCharacters))\(text.count > mostCharacters ? "…" : "")'"
    }
}
