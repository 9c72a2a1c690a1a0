package import JSON

/// What the service found out about settings, or did with them.
package enum SettingsOutcome: Sendable {
    /// The settings of a `checkSettings` effect are valid.
    indirect case valid(SettingsCandidate)
    /// They are not, for these reasons. `topic`: the base topic of the tracker that got the command.
    case invalid(reasons: [String], topic: String)
    /// The settings of a `putInForce` effect are in force. `isReachable`: the connection to the broker stands with them, or they want none;
    /// else a new one was begun.
    case inForce(isReachable: Bool)
    /// The file is about to be read again. This ends a trial.
    case fileChanges
    /// The file was read, and these of the kept settings stay; nil: none.
    case remaining(JSONValue?)
}
