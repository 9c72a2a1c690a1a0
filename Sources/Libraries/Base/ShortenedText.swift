extension String {
    /// At most 40 characters, for an error message about text of any length.
    package var shortened: String { count > 40 ? "\(prefix(40))…" : self }
}
