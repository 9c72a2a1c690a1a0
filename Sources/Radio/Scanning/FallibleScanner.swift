/// A scanner that may detect, after its start, that its way does not work here.
package protocol FallibleScanner: Scanner {
    /// Why this way is given up; nil while it works or may still work.
    var failure: ScannerError? { get }
}
