package import JSON

/// Why a message on `<base>/cmd` was refused, in words for the log.
package enum CommandError: Error, Hashable, Sendable {
    case malformed(JSONError)
    /// The kind of the value, with its article.
    case notAnObject(String)
    case wrongType(String)
    /// What it is, and the command that takes it.
    case notWrapped(String, as: CommandAction)
    /// The message is encrypted, and the tracker has no key.
    case encrypted
    case missingAction
    case unknownAction(String, suggestion: String?)
    /// An action of OwnTracks that has no meaning for a gateway.
    case unsupportedAction(String, reason: String)
    case badArgument(action: String, reason: String)
}

extension CommandError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .malformed(let error): "not JSON: \(error)"
        case .notAnObject(let kind): "\(kind) is not a command; expected an object with _type 'cmd'"
        case .wrongType(let type): "_type is \(type); expected 'cmd'"
        case .notWrapped(let kind, let action): "\(kind) is not a command; write \(action.envelope)"
        case .encrypted: "it is encrypted, and this tracker has no encryptionKey"
        case .missingAction: "action is missing"
        case .unknownAction(let action, let suggestion?): "unknown action '\(action)'; did you mean '\(suggestion)'?"
        case .unknownAction(let action, nil): "unknown action '\(action)'"
        case .unsupportedAction(let action, let reason): "'\(action)' is not supported: \(reason)"
        case .badArgument(let action, let reason): "\(action): \(reason)"
        }
    }
}
