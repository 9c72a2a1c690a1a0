/// Reads one YAML document.
///
/// The text may come from anyone. Work and memory are bounded by `YAMLLimits`. An alias counts as the nodes that it stands
/// for, so that a few lines cannot become millions of nodes.
package struct YAMLReader: ~Copyable {
    private var parser: YAMLParser
    private var anchors: [String: (node: YAMLNode, size: Int)] = [:]
    /// Nodes so far, with those of the aliases.
    private var size = 0

    /// - Returns: The document; nil if the text has none.
    /// - Throws: The first mistake, also for a second document.
    package static func read(_ bytes: [UInt8]) throws(YAMLError) -> YAMLNode? {
        guard bytes.count <= YAMLLimits.bytes else {
            throw YAMLError(line: 0, reason: "it has \(bytes.count) bytes; at most \(YAMLLimits.bytes) are read")
        }
        return try bytes.withUnsafeBufferPointer { (input) throws(YAMLError) in
            var reader = YAMLReader(parser: try YAMLParser(input))
            return try reader.stream()
        }
    }

    private init(parser: consuming YAMLParser) { self.parser = parser }

    private mutating func stream() throws(YAMLError) -> YAMLNode? {
        var document: YAMLNode?
        while true {
            let event = try parser.next()
            switch event.kind {
            case .documentStart:
                guard document == nil else { throw YAMLError(line: event.line, reason: "a second document begins") }
                document = try node(from: parser.next(), depth: 1)
            case .end: return document
            default: break
            }
        }
    }

    private mutating func node(from event: YAMLEvent, depth: Int) throws(YAMLError) -> YAMLNode {
        guard depth <= YAMLLimits.depth else {
            throw YAMLError(line: event.line, reason: "more than \(YAMLLimits.depth) levels are nested")
        }
        let before = size
        try count(1, event)
        let node: YAMLNode
        switch event.kind {
        case .scalar(let text, let isPlain): node = YAMLNode(.scalar(text, isPlain: isPlain), line: event.line)
        case .sequenceStart: node = YAMLNode(.sequence(try elements(depth)), line: event.line)
        case .mappingStart: node = YAMLNode(.mapping(try members(depth)), line: event.line)
        case .alias(let name):
            // An anchor is known when its node is complete: a node cannot contain itself.
            guard let anchored = anchors[name] else {
                throw YAMLError(line: event.line, reason: "an alias names no anchor before it")
            }
            try count(anchored.size, event)
            return YAMLNode(anchored.node.content, line: event.line)
        default: throw YAMLError(line: event.line, reason: "a value is missing")
        }
        if let name = event.anchor { anchors[name] = (node, size - before) }
        return node
    }

    private mutating func count(_ nodes: Int, _ event: YAMLEvent) throws(YAMLError) {
        size += nodes
        guard size <= YAMLLimits.nodes else {
            throw YAMLError(line: event.line, reason: "it has more than \(YAMLLimits.nodes) values")
        }
    }

    private mutating func elements(_ depth: Int) throws(YAMLError) -> [YAMLNode] {
        var elements: [YAMLNode] = []
        while true {
            let event = try parser.next()
            if case .sequenceEnd = event.kind { return elements }
            elements.append(try node(from: event, depth: depth + 1))
        }
    }

    private mutating func members(_ depth: Int) throws(YAMLError) -> [YAMLNode.Member] {
        var members: [YAMLNode.Member] = []
        var keys: Set<String> = []
        while true {
            let event = try parser.next()
            if case .mappingEnd = event.kind { return members }
            guard case .scalar(let key, _) = try node(from: event, depth: depth + 1).content else {
                throw YAMLError(line: event.line, reason: "a key is not a word")
            }
            guard keys.insert(key).inserted else { throw YAMLError(line: event.line, reason: "a key is there twice") }
            members.append(YAMLNode.Member(key: key, value: try node(from: parser.next(), depth: depth + 1)))
        }
    }
}
