/// A scanner that may detect, after its start, that its interface does not work here.
package protocol FallibleScanner: Scanner {
    /// Why it is given up; nil while it works or may still work.
    var failure: ScannerError? { get }
    /// Whether its interface has failed, so that nothing comes from it any more and only a new one helps.
    var hasDied: Bool { get }
}
