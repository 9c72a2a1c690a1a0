extension Array {
    /// Appends an element to a list that grows seldom and takes much memory.
    ///
    /// The capacity grows by a thirty-second. `append` doubles it, which leaves up to half of the memory empty.
    @inlinable
    package mutating func appendSparingly(_ element: Element) {
        if count == capacity { reserveCapacity(count + Swift.max(4, count / 32)) }
        append(element)
    }
}
