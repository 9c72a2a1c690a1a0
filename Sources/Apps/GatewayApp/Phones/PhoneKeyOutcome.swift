package import Identities
package import System

/// How a change of the file ended.
package enum PhoneKeyOutcome: Sendable {
    /// The file has these keys. `wasChanged`: another program had changed it since the service read it.
    case stored(PhoneKeys, stamp: FileStamp?, wasChanged: Bool, problems: [String])
    /// Another program changes the file now.
    case busy
    case failed(Failure)
}
