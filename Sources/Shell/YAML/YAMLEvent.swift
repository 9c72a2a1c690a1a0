/// An event of libyaml, as values of Swift.
struct YAMLEvent {
    enum Kind {
        case documentStart
        case scalar(String, isPlain: Bool)
        case alias(String)
        case sequenceStart, sequenceEnd, mappingStart, mappingEnd
        case end
        /// The begin of the stream, and the end of a document.
        case other
    }

    let kind: Kind
    /// The name that aliases use for the node that begins.
    let anchor: String?
    /// From 1.
    let line: Int
}
