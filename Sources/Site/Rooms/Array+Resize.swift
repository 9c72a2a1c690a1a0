extension Array where Element: BitwiseCopyable {
    /// Makes it so long. Its elements are to be set then: this costs nothing where its length stays, as from window to window in most
    /// homes, while `removeAll` and an `append` for each element take half of what is computed between them.
    @inline(__always)
    mutating func resize(to count: Int, _ new: Element) {
        if self.count != count { changeCount(to: count, new) }
    }

    /// Makes it so long, and sets each element.
    ///
    /// It asks once whether others have the array, too. `array[index] = element` asks for each element.
    @inline(__always)
    mutating func fill(to count: Int, _ new: Element, _ element: (Int) -> Element) {
        resize(to: count, new)
        var span = mutableSpan
        for index in span.indices { span[index] = element(index) }
    }

    private mutating func changeCount(to count: Int, _ new: Element) {
        if self.count > count { removeLast(self.count - count) }
        while self.count < count { append(new) }
    }
}
