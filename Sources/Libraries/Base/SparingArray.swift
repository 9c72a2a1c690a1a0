extension Array {
    /// Appends an element to a list that grows seldom and takes much memory.
    ///
    /// The room for more elements grows by a thirty-second. `append` doubles it, so that up to half of the memory is empty.
    @inlinable
    package mutating func appendSparingly(_ element: Element) {
        if count == capacity { reserveCapacity(count + Swift.max(4, count / 32)) }
        append(element)
    }
}
