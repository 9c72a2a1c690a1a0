import CYAML

/// libyaml's parser.
struct YAMLParser: ~Copyable {
    /// On the heap: the parser keeps its own address.
    private let parser: UnsafeMutablePointer<yaml_parser_t>

    /// - Parameter input: UTF-8, or UTF-16 with a byte order mark. It must outlive the parser.
    init(_ input: UnsafeBufferPointer<UInt8>) throws(YAMLError) {
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        parser.initialize(to: yaml_parser_t())
        guard yaml_parser_initialize(parser) == 1 else {
            parser.deallocate()
            throw YAMLError(line: 0, reason: "there is no memory for it")
        }
        yaml_parser_set_input_string(parser, input.baseAddress, input.count)
        self.parser = parser
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
    }

    /// The next event. Behind the last one there are only further ends.
    mutating func next() throws(YAMLError) -> YAMLEvent {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw error }
        defer { yaml_event_delete(&event) }
        let line = Int(event.start_mark.line) + 1
        switch event.type {
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
            let isPlain = scalar.style == YAML_PLAIN_SCALAR_STYLE && scalar.plain_implicit == 1
            return YAMLEvent(kind: .scalar(text, isPlain: isPlain), anchor: Self.name(scalar.anchor), line: line)
        case YAML_ALIAS_EVENT:
            return YAMLEvent(kind: .alias(Self.name(event.data.alias.anchor) ?? ""), anchor: nil, line: line)
        case YAML_SEQUENCE_START_EVENT:
            return YAMLEvent(kind: .sequenceStart, anchor: Self.name(event.data.sequence_start.anchor), line: line)
        case YAML_MAPPING_START_EVENT:
            return YAMLEvent(kind: .mappingStart, anchor: Self.name(event.data.mapping_start.anchor), line: line)
        case YAML_SEQUENCE_END_EVENT: return YAMLEvent(kind: .sequenceEnd, anchor: nil, line: line)
        case YAML_MAPPING_END_EVENT: return YAMLEvent(kind: .mappingEnd, anchor: nil, line: line)
        case YAML_DOCUMENT_START_EVENT: return YAMLEvent(kind: .documentStart, anchor: nil, line: line)
        // After the end of the stream, libyaml returns events of no kind.
        case YAML_STREAM_END_EVENT, YAML_NO_EVENT: return YAMLEvent(kind: .end, anchor: nil, line: line)
        default: return YAMLEvent(kind: .other, anchor: nil, line: line)
        }
    }

    private static func name(_ text: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        text.map { String(cString: $0) }
    }

    /// libyaml's words, which are fixed and have nothing of the text in them.
    private var error: YAMLError {
        let problem = parser.pointee.problem.map { String(cString: $0) } ?? "this is not YAML"
        // A reader's error, such as an invalid byte, has an offset and no line.
        let hasLine = parser.pointee.error == YAML_SCANNER_ERROR || parser.pointee.error == YAML_PARSER_ERROR
        return YAMLError(line: hasLine ? Int(parser.pointee.problem_mark.line) + 1 : 0, reason: problem)
    }
}
