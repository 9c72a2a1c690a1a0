import System

/// The parsed words of a command line: options with their arguments, then operands.
struct Arguments {
    private var values: [String: [String]] = [:]
    var operands: [String] = []

    mutating func add(_ option: String, _ value: String) {
        values[option, default: []].append(value)
    }

    /// Whether the option was given.
    func has(_ option: String) -> Bool { values[option] != nil }

    /// The option's argument; the last one if the option was given several times.
    func value(_ option: String) -> String? { values[option]?.last }

    /// - Throws: `Failure` if two forms of a list are wanted at once, of which only one would be printed.
    func needOneForm() throws(Failure) {
        guard has("csv"), has("json") else { return }
        throw Failure(.usage, "--csv and --json exclude each other")
    }

    mutating func merge(_ other: Arguments) {
        for (option, given) in other.values { values[option, default: []] += given }
        operands += other.operands
    }
}
