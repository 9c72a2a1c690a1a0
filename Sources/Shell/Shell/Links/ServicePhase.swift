/// What the service manager is told.
package enum ServicePhase: Hashable, Sendable {
    /// Start-up is complete.
    case ready(status: String)
    case reloading
    case reloaded
    case stopping
}
