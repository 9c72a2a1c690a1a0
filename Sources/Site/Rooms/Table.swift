/// An array whose elements are selected by its own index type.
struct Table<Index: TableIndex, Element: Sendable>: Sendable {
    private(set) var elements: [Element] = []

    init(_ elements: [Element] = []) { self.elements = elements }

    var count: Int { elements.count }
    var isEmpty: Bool { elements.isEmpty }
    var indices: Range<Index> { Index(number: 0)..<Index(number: elements.count) }

    /// Whether there is an element at the index.
    func contains(index: Index) -> Bool { index.number < elements.count }

    /// The index with a number; nil if there is no element.
    func index(at number: Int) -> Index? {
        elements.indices.contains(number) ? Index(number: number) : nil
    }

    // An element is changed in place: with `set` alone, the arrays in it would be copied first.
    subscript(index: Index) -> Element {
        _read { yield elements[index.number] }
        _modify { yield &elements[index.number] }
    }

    @discardableResult
    mutating func append(_ element: Element) -> Index {
        elements.append(element)
        return Index(number: elements.count - 1)
    }

    func firstIndex(where isWanted: (Element) -> Bool) -> Index? {
        elements.firstIndex(where: isWanted).map(Index.init(number:))
    }
}
