package import Base

/// A secret of the configuration. A name of a file never goes without what was read from that file, so no copy of the
/// settings can lose a key and publish in the clear.
package enum SecretSetting: Hashable, Sendable {
    case absent
    /// It is a member of the configuration itself.
    case inline(Secret)
    /// The first line of a file.
    ///
    /// - Parameter path: As the configuration has it.
    case file(path: String, secret: Secret)

    /// nil if there is none.
    package var secret: Secret? { inline ?? inFile }

    /// The secret if the configuration itself has it.
    package var inline: Secret? { if case .inline(let secret) = self { secret } else { nil } }

    /// The secret if a file has it.
    package var inFile: Secret? { if case .file(_, let secret) = self { secret } else { nil } }

    /// The file as the configuration has it.
    package var path: String? { if case .file(let path, _) = self { path } else { nil } }
}
