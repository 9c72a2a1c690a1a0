import Messaging

/// The token of a message on the second connection: which part waits for the answer, and the number of the message there.
struct SideToken: Hashable {
    let part: SidePartName
    /// From 1 on.
    let number: Int64

    init(_ part: SidePartName, _ number: Int64) { (self.part, self.number) = (part, number) }

    /// - Returns: nil for the token of a message whose answer no part waits for.
    init?(_ token: MessageToken) {
        let value = token.rawValue.magnitude
        let count = UInt64(SidePartName.allCases.count)
        guard token.rawValue < 0, value >= count, let part = SidePartName(rawValue: Int64(value % count)) else {
            return nil
        }
        self.init(part, Int64(value / count))
    }

    /// Below 0, as of every message that has no row in the outbox.
    var message: MessageToken {
        MessageToken(rawValue: -(number * Int64(SidePartName.allCases.count) + part.rawValue))
    }
}

extension MessageToken {
    /// Of a message whose answer no part waits for.
    static let unawaited = MessageToken(rawValue: 0)
}
