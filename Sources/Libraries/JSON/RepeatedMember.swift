/// A member that stands more than once in one object of a text. The last one is read.
package struct RepeatedMember: Hashable, Sendable {
    /// Where it stands, such as `rooms.http` or `trackers[1].tid`.
    package let path: String
    /// The line of the one before, and its own; from 1.
    package let firstLine: Int
    package let line: Int
}

extension JSONValue {
    /// The members that stand more than once, in the order of the text. For text that a person writes: it is read once more for this.
    ///
    /// - Throws: As the reading of the text.
    package static func repeatedMembers(
        in bytes: some Collection<UInt8>, dialect: JSONDialect = .json, limits: JSONLimits = JSONLimits()
    ) throws(JSONError) -> [RepeatedMember] {
        try JSONReader.repeatedMembers(in: try text(of: bytes, limits), dialect: dialect, limits: limits)
    }
}

extension JSONReader {
    /// Where the members of the objects around the present place were named: what finds a member that stands twice.
    struct Repetitions {
        private enum Step { case member(String), element(Int) }

        private var steps: [Step] = []
        /// Of each object that is not closed: the offset of each name, the last one.
        private var offsets: [[String: Int]] = []
        private(set) var found: [(path: String, first: Int, second: Int)] = []
        /// The most that are listed. A person corrects one after the other.
        private static let most = 100

        mutating func begin() { offsets.append([:]) }

        mutating func end() { offsets.removeLast() }

        mutating func enter(_ name: String, at offset: Int) {
            steps.append(.member(name))
            let before = offsets[offsets.count - 1].updateValue(offset, forKey: name)
            if let before, found.count < Self.most { found.append((path, before, offset)) }
        }

        mutating func enter(element index: Int) { steps.append(.element(index)) }

        mutating func leave() { steps.removeLast() }

        private var path: String {
            steps.reduce(into: "") { path, step in
                switch step {
                case .member(let name): path += path.isEmpty ? name : ".\(name)"
                case .element(let index): path += "[\(index)]"
                }
            }
        }
    }
}
