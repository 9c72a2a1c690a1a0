/// A report to the service manager.
package enum ServiceState: Hashable, Sendable {
    /// Start-up is complete.
    case ready(status: String)
    case reloading
    case reloaded
    case stopping
}
