/// An array whose elements are selected by its own index type.
struct Table<Index: TableIndex, Element: Sendable>: Sendable {
    private(set) var elements: [Element] = []

    init(_ elements: [Element] = []) { self.elements = elements }

    var count: Int { elements.count }
    var isEmpty: Bool { elements.isEmpty }
    var indices: Range<Index> { Index(position: 0)..<Index(position: elements.count) }

    /// Whether there is an element at the index.
    func contains(index: Index) -> Bool { index.position < elements.count }

    /// The index of the element at a position; nil if there is none.
    func index(at position: Int) -> Index? {
        elements.indices.contains(position) ? Index(position: position) : nil
    }

    // An element is changed in place: with `set` alone, the arrays in it would be copied first.
    subscript(index: Index) -> Element {
        _read { yield elements[index.position] }
        _modify { yield &elements[index.position] }
    }

    @discardableResult
    mutating func append(_ element: Element) -> Index {
        elements.append(element)
        return Index(position: elements.count - 1)
    }

    func firstIndex(where isWanted: (Element) -> Bool) -> Index? {
        elements.firstIndex(where: isWanted).map(Index.init(position:))
    }
}
