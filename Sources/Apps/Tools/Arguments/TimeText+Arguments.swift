extension TimeText.Zone {
    /// The zone that a command shows: the local one on a terminal, unless the option says otherwise.
    init(_ arguments: Arguments, isTerminal: Bool = Terminal.isInteractive) {
        self = isTerminal && !arguments.has(Self.option) ? .local : .utc
    }
}
