extension Int64 {
    /// The nearest whole number that 64 bits hold; 0 for what is not a number. A conversion for numbers of any origin.
    package init(saturating value: Double) {
        let rounded = value.rounded()
        self = Int64(exactly: rounded) ?? (rounded.isNaN ? 0 : rounded < 0 ? .min : .max)
    }
}
