/// Windows of active scan, in which devices are asked for more than they say by themselves.
package enum ActiveScan: Hashable, Sendable {
    /// The scanner cannot have them, or another program would be disturbed.
    case unavailable
    /// None is open, and one may be asked for.
    case available
    case running
}
