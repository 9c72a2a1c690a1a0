/// Ends the run with a sentence. A precondition's message is lost in an optimised build.
func require(_ condition: Bool, _ what: String = "", line: UInt = #line) {
    if !condition { fatalError("line \(line) does not hold: \(what)") }
}
